public import SidelightKernels

/// The first line of a Y4M stream (`YUV4MPEG2`), which describes all of its frames.
public struct Y4MHeader: Sendable, Hashable {
  /// The size in pixels.
  public var size: FrameSize
  /// Frames a second; `nil` if the stream does not know.
  public var frameRate: Rational?
  /// A pixel's width to its height; `nil` if the stream does not know.
  public var pixelAspect: Rational?
  /// The chroma.
  public var chroma: Y4MChroma
  /// `XCOLORRANGE`; `nil` if the stream does not say, which means video range.
  ///
  /// Of luma-only streams the samples are taken as full range whatever the tag says, and come back
  /// with the same tag.
  public var range: YUVRange?
  /// Other `X` tags, with their `X`, in order. They have no meaning here, and are written back.
  /// None may have a space or a newline.
  public var extensions: [String]

  /// States a header, for a stream to be written.
  public init(
    size: FrameSize, frameRate: Rational?, chroma: Y4MChroma = .jpeg, range: YUVRange? = nil,
    pixelAspect: Rational? = nil, extensions: [String] = []
  ) {
    self.size = size
    self.frameRate = frameRate
    self.pixelAspect = pixelAspect
    self.chroma = chroma
    self.range = range
    self.extensions = extensions
  }

  /// The most bytes of a header or frame line, its newline included: 4096.
  public static let maxLineLength = 4096

  /// The bytes of one frame's samples.
  public var frameByteCount: Int {
    let format = self.chroma.pixelFormat
    return (0 ..< format.planeCount).reduce(0) { sum, plane in
      sum + format.rowByteCount(plane: plane, width: self.size.width)
        * format.rowCount(plane: plane, height: self.size.height)
    }
  }

  /// What the frames are.
  ///
  /// - Parameter matrix: Y4M does not name it. `nil` assumes what players do: BT.601 up to 576
  ///   rows, BT.709 above.
  public func geometry(matrix: YUVMatrix? = nil) -> FrameGeometry {
    FrameGeometry(
      format: self.chroma.pixelFormat, size: self.size,
      color: ColorDescription(
        range: self.range ?? .video,
        matrix: matrix ?? (self.size.height <= 576 ? .bt601 : .bt709)))
  }
}
