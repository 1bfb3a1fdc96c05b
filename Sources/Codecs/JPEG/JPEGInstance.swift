import CTurboJPEG

/// An instance of libjpeg-turbo. It processes one picture at a time. Creating one costs more than
/// reading the header of a small picture.
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
