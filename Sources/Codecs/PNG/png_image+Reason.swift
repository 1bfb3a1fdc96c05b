import CPNG

extension png_image {
  /// What libpng says went wrong.
  var reason: String {
    var message = unsafe self.message
    return unsafe withUnsafeBytes(of: &message) { bytes in
      unsafe String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
