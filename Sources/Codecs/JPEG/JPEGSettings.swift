/// How a JPEG is written.
public struct JPEGSettings: Sendable, Hashable {
  /// 1 ... 100, by the scale of the Independent JPEG Group; 80 by default.
  public var quality: Int
  /// How much chroma is kept; 4:2:0 by default.
  public var subsampling: JPEGSubsampling

  /// States how to write; whether that can be, the encoder finds out.
  public init(quality: Int = 80, subsampling: JPEGSubsampling = .quarter) {
    self.quality = quality
    self.subsampling = subsampling
  }

  /// - Throws: ``CodecError`` with code ``CodecError/Code/invalidOption``.
  func check() throws(CodecError) {
    guard (1 ... 100).contains(self.quality) else {
      throw CodecError(.invalidOption, "JPEG quality is \(self.quality), the range is 1 ... 100")
    }
  }
}
