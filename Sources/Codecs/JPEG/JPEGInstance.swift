import CTurboJPEG

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
