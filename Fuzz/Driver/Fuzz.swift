import CFuzzer
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Calls a function with one input after another, until libFuzzer has had enough or the process traps.
/// The whole of a target's `main.swift`.
///
/// - Parameter body: Given an input's bytes. It must not keep them, and must not leave anything behind
///   that lets a later input end otherwise.
public func fuzz(_ body: @escaping @Sendable (RawSpan) -> Void) -> Never {
  inputBody.value = body
  var count = CommandLine.argc
  var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
  let status = LLVMFuzzerRunDriver(&count, &arguments) { start, count in
    inputBody.value?(UnsafeRawBufferPointer(start: start, count: count).bytes)
    return 0
  }
  exit(status)
}

/// A function of C has no context, so what it calls lies here.
private final class Body: @unchecked Sendable {  // written once, before the first input
  var value: (@Sendable (RawSpan) -> Void)?
}

private let inputBody = Body()
