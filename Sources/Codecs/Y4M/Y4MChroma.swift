public import SidelightKernels

/// The chroma of a Y4M stream, as its `C` tag names it. The 4:2:0 forms differ in where a chroma
/// sample sits between the pixels that share it; the samples are taken as they are.
public enum Y4MChroma: String, Sendable, Hashable, CaseIterable {
  /// 4:2:0 with chroma in the middle of its four pixels, as in JPEG. What a stream without tag has.
  case jpeg = "420jpeg"
  /// 4:2:0 with chroma at the left pixels, as in MPEG-2 and H.264.
  case mpeg2 = "420mpeg2"
  /// 4:2:0 as in PAL DV.
  case palDV = "420paldv"
  /// 4:2:0 that does not say more.
  case unspecified = "420"
  /// Luma only.
  case mono = "mono"

  /// What frames of the stream are.
  public var pixelFormat: PixelFormat { self == .mono ? .gray8 : .i420 }
}
