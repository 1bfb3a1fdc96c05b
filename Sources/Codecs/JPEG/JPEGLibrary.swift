import CTurboJPEG

/// One instance of libjpeg-turbo, for one picture.
@safe
struct JPEGLibrary: ~Copyable {
  /// Valid as long as the value lives.
  let handle: tjhandle

  /// - Throws: ``CodecError`` with code `failed` if there is no memory.
  private init(_ handle: tjhandle?) throws(CodecError) {
    guard let handle = unsafe handle else {
      throw CodecError(.failed, "libjpeg-turbo has no memory")
    }
    unsafe self.handle = handle
  }

  static func decoder() throws(CodecError) -> JPEGLibrary {
    try unsafe JPEGLibrary(tjInitDecompress())
  }

  static func encoder() throws(CodecError) -> JPEGLibrary {
    try unsafe JPEGLibrary(tjInitCompress())
  }

  deinit {
    unsafe _ = tjDestroy(self.handle)
  }

  /// What the last call says went wrong.
  borrowing func reason() -> String {
    guard let message = unsafe tjGetErrorStr2(self.handle) else { return "no reason given" }
    return unsafe String(cString: message)
  }
}
