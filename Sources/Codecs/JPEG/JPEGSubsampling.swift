/// How much chroma a JPEG keeps.
public enum JPEGSubsampling: String, Sendable, Hashable, CaseIterable {
  /// 4:4:4: a chroma sample a pixel. Coloured edges stay sharp.
  case none = "4:4:4"
  /// 4:2:2: a chroma sample for two pixels side by side.
  case half = "4:2:2"
  /// 4:2:0: a chroma sample for 2 x 2 pixels. Smaller files.
  case quarter = "4:2:0"
}
