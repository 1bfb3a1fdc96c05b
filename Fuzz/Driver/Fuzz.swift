import CFuzzer
#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Repeatedly calls a function with a new input, until libFuzzer ends or the process traps.
/// The `main.swift` of a target consists of this call.
///
/// - Parameter body: Gets the bytes of an input. It must not keep them, and must not leave state
///   that changes the result of a later input.
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

/// The function that the C callback, which has no context, calls.
private final class Body: @unchecked Sendable {  // written once, before the first input
  var value: (@Sendable (RawSpan) -> Void)?
}

private let inputBody = Body()
