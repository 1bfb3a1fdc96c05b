import CTurboJPEG
import Synchronization

/// One instance of libjpeg-turbo. It serves one picture at a time, and any number one after another.
@safe
final class JPEGInstance: @unchecked Sendable {  // has one owner: the pool, then one scope
  /// What an instance is made for.
  enum Kind {
    case decoder, encoder
  }

  /// Valid as long as the object lives.
  let handle: tjhandle

  /// - Throws: ``CodecError`` with code `failed` if there is no memory.
  init(_ kind: Kind) throws(CodecError) {
    let made =
      switch kind {
      case .decoder: unsafe tjInitDecompress()
      case .encoder: unsafe tjInitCompress()
      }
    guard let handle = unsafe made else {
      throw CodecError(.failed, "libjpeg-turbo has no memory")
    }
    unsafe self.handle = handle
  }

  deinit {
    unsafe _ = tjDestroy(self.handle)
  }

  /// What the last call says went wrong.
  func reason() -> String {
    guard let message = unsafe tjGetErrorStr2(self.handle) else { return "no reason given" }
    return unsafe String(cString: message)
  }
}

/// Keeps instances of libjpeg-turbo for pictures to come. Making one costs more than a small
/// picture's header; what is kept idle has a bound.
final class JPEGInstancePool: Sendable {
  private let kind: JPEGInstance.Kind
  private let maxIdle: Int
  private let idle = Mutex<[JPEGInstance]>([])

  /// - Parameter maxIdle: The most instances that wait; 0 keeps none.
  init(_ kind: JPEGInstance.Kind, maxIdle: Int) {
    self.kind = kind
    self.maxIdle = maxIdle
  }

  /// How many instances wait.
  var idleCount: Int { self.idle.withLock { $0.count } }

  /// Lends an instance for the length of a call.
  ///
  /// One that threw is not lent again: what is left in it, nobody needs to know.
  ///
  /// - Parameter isFresh: Whether it must be one that has seen no picture, and is to see no other.
  func withInstance<Result>(
    isFresh: Bool = false, _ body: (JPEGInstance) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    if isFresh { return try body(try JPEGInstance(self.kind)) }
    let known = self.idle.withLock { $0.popLast() }
    let instance = if let known { known } else { try JPEGInstance(self.kind) }
    let result = try body(instance)
    self.idle.withLock { idle in
      if idle.count < self.maxIdle { idle.append(instance) }
    }
    return result
  }
}
