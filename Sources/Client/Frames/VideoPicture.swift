public import SidelightKernels

/// A picture as it travels: samples, or a file.
public enum VideoPicture: Sendable {
  /// Samples, in one of the raw formats.
  case frame(Frame)
  /// A whole JPEG file, and how it is to be shown.
  case jpeg([UInt8], orientation: Orientation = .upright)

  /// The samples; `nil` if the picture is a file. Ask for samples with ``OutputOptions/format``.
  public var frame: Frame? {
    if case .frame(let frame) = self { frame } else { nil }
  }

  /// The file; `nil` if the picture is samples.
  public var jpeg: [UInt8]? {
    if case .jpeg(let file, _) = self { file } else { nil }
  }

  /// How the picture is to be shown.
  public var orientation: Orientation {
    switch self {
    case .frame(let frame): frame.orientation
    case .jpeg(_, let orientation): orientation
    }
  }
}
