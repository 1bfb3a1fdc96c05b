import CTurboJPEG
import Synchronization

/// An instance of libjpeg-turbo. It processes one picture at a time.
@safe
final class JPEGInstance: @unchecked Sendable {  // has one owner: the pool, then one scope
  /// The purpose of an instance.
  enum Kind {
    case decoder, encoder
  }

  /// The handle, valid during the lifetime of the object.
  let handle: tjhandle

  /// Creates an instance.
  ///
  /// - Throws: ``CodecError`` with code `failed` if memory is exhausted.
  init(_ kind: Kind) throws(CodecError) {
    let created =
      switch kind {
      case .decoder: unsafe tjInitDecompress()
      case .encoder: unsafe tjInitCompress()
      }
    guard let handle = unsafe created else {
      throw CodecError(.failed, "libjpeg-turbo has no memory")
    }
    unsafe self.handle = handle
  }

  deinit {
    unsafe _ = tjDestroy(self.handle)
  }

  /// Returns the reason of the last failure.
  func reason() -> String {
    guard let message = unsafe tjGetErrorStr2(self.handle) else { return "no reason given" }
    return unsafe String(cString: message)
  }
}

/// A pool of instances of libjpeg-turbo with a limited number of idle ones. Creating an instance
/// costs more than reading the header of a small picture.
final class JPEGInstancePool: Sendable {
  private let kind: JPEGInstance.Kind
  private let maxIdle: Int
  private let idle = Mutex<[JPEGInstance]>([])

  /// - Parameters:
  ///   - kind: The purpose of the instances.
  ///   - maxIdle: The maximum number of idle instances.
  init(_ kind: JPEGInstance.Kind, maxIdle: Int) {
    self.kind = kind
    self.maxIdle = maxIdle
  }

  /// Calls a function with an instance. If the function throws, the instance is not used again,
  /// since its state is unknown.
  ///
  /// - Parameter isFresh: Whether to create an instance for this call only.
  func withInstance<Result>(
    isFresh: Bool = false, _ body: (JPEGInstance) throws(CodecError) -> Result
  ) throws(CodecError) -> Result {
    if isFresh { return try body(try JPEGInstance(self.kind)) }
    let idle = self.idle.withLock { $0.popLast() }
    let instance = if let idle { idle } else { try JPEGInstance(self.kind) }
    let result = try body(instance)
    self.idle.withLock { idle in
      if idle.count < self.maxIdle { idle.append(instance) }
    }
    return result
  }
}
