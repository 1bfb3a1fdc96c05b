public import SidelightKernels

/// The first line of a Y4M stream (`YUV4MPEG2`), which describes all of its frames.
public struct Y4MHeader: Sendable, Hashable {
  /// The size in pixels.
  public var size: FrameSize
  /// The number of frames per second, if known.
  public var frameRate: Rational?
  /// The ratio of a pixel's width to its height, if known.
  public var pixelAspect: Rational?
  /// The format of chroma.
  public var chroma: Y4MChroma
  /// The value of `XCOLORRANGE`. `nil` if the tag is missing, which means video range.
  ///
  /// Samples of luma-only streams are read as full range with any tag; the tag is kept.
  public var range: YUVRange?
  /// Other `X` tags, including the `X`, in order. They are ignored, and written again. They must
  /// not contain spaces or newlines.
  public var extensions: [String]

  /// Creates the header of a stream to write.
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

  /// The maximum length of a header or frame line in bytes, including its newline: 4096.
  public static let maxLineLength = 4096

  /// The size of a frame's samples in bytes.
  public var frameByteCount: Int {
    let format = self.chroma.pixelFormat
    return (0 ..< format.planeCount).reduce(0) { sum, plane in
      sum + format.rowByteCount(plane: plane, width: self.size.width)
        * format.rowCount(plane: plane, height: self.size.height)
    }
  }

  /// Returns the geometry of the frames.
  ///
  /// - Parameter matrix: The matrix, which Y4M does not state. `nil` assumes BT.601 up to 576 rows
  ///   and BT.709 above, like players.
  public func geometry(matrix: YUVMatrix? = nil) -> FrameGeometry {
    FrameGeometry(
      format: self.chroma.pixelFormat, size: self.size,
      color: ColorDescription(
        range: self.range ?? .video,
        matrix: matrix ?? (self.size.height <= 576 ? .bt601 : .bt709)))
  }
}

extension Y4MHeader {
  /// Parses a header line.
  ///
  /// - Parameter line: The line without its newline.
  /// - Throws: ``CodecError`` with code `unknownFormat` if the line is not a header line, `corrupt`
  ///   for an invalid tag or a missing size, or `unsupported` for interlaced streams and other
  ///   formats of chroma.
  public init(line: String) throws(CodecError) {
    var tags = line.split(separator: " ", omittingEmptySubsequences: true)[...]
    guard tags.popFirst() == "YUV4MPEG2" else {
      throw CodecError(.unknownFormat, "the stream does not start with YUV4MPEG2")
    }
    var width: Int?
    var height: Int?
    self.init(size: FrameSize(width: 0, height: 0), frameRate: nil)
    for tag in tags {
      let value = tag.dropFirst()
      switch tag.first {
      case "W": width = try Self.dimension(tag)
      case "H": height = try Self.dimension(tag)
      case "F": self.frameRate = try Self.ratio(tag)
      case "A": self.pixelAspect = try Self.ratio(tag)
      case "I": try Self.checkInterlacing(value)
      case "C": self.chroma = try Self.chroma(value)
      case "X":
        switch value {
        case "COLORRANGE=FULL": self.range = .full
        case "COLORRANGE=LIMITED": self.range = .video
        default: self.extensions.append(String(tag))
        }
      default: throw CodecError(.corrupt, "the header has an unknown tag '\(tag.visible)'")
      }
    }
    guard let width else { throw CodecError(.corrupt, "the header states no width (W)") }
    guard let height else { throw CodecError(.corrupt, "the header states no height (H)") }
    self.size = FrameSize(width: width, height: height)
  }

  /// The header line, without its newline.
  public var line: String {
    var tags = ["YUV4MPEG2", "W\(self.size.width)", "H\(self.size.height)"]
    tags.append("F\(self.frameRate?.description ?? "0:0")")
    tags.append("Ip")
    if let pixelAspect { tags.append("A\(pixelAspect)") }
    tags.append("C\(self.chroma.rawValue)")
    tags += self.extensions
    switch self.range {
    case .full: tags.append("XCOLORRANGE=FULL")
    case .video: tags.append("XCOLORRANGE=LIMITED")
    case nil: break
    }
    return tags.joined(separator: " ")
  }

  private static func dimension(_ tag: Substring) throws(CodecError) -> Int {
    guard let value = Int(tag.dropFirst()), value > 0 else {
      throw CodecError(.corrupt, "the header's '\(tag.visible)' is not a size")
    }
    return value
  }

  /// Parses a ratio. `nil` if a part is zero, which means that the ratio is unknown.
  private static func ratio(_ tag: Substring) throws(CodecError) -> Rational? {
    let parts = tag.dropFirst().split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, let numerator = Int(parts[0]), let denominator = Int(parts[1]),
      numerator >= 0, denominator >= 0
    else { throw CodecError(.corrupt, "the header's '\(tag.visible)' is not a ratio") }
    if numerator == 0 || denominator == 0 { return nil }
    guard let ratio = Rational(numerator, denominator) else {
      throw CodecError(.corrupt, "the header's '\(tag.visible)' is beyond \(Int32.max)")
    }
    return ratio
  }

  private static func checkInterlacing(_ value: Substring) throws(CodecError) {
    switch value {
    case "p", "?": return
    case "t", "b", "m":
      throw CodecError(
        .unsupported, "the stream is interlaced (I\(value)); deinterlace it first: -vf yadif")
    default: throw CodecError(.corrupt, "the header's 'I\(value.visible)' is not known")
    }
  }

  private static func chroma(_ value: Substring) throws(CodecError) -> Y4MChroma {
    guard let chroma = Y4MChroma(rawValue: String(value)) else {
      throw CodecError(
        .unsupported,
        "chroma C\(value.visible) is not supported; convert it first: -pix_fmt yuv420p")
    }
    return chroma
  }
}

extension Substring {
  /// The first 40 characters, without control characters, for terminals.
  fileprivate var visible: String {
    String(self.prefix(40).map { $0.unicodeScalars.allSatisfy { $0.value >= 32 } ? $0 : "?" })
  }
}

/// The format of chroma of a Y4M stream, with the names of the `C` tag. The forms of 4:2:0 differ
/// in the positions of chroma samples, which are ignored.
public enum Y4MChroma: String, Sendable, Hashable, CaseIterable {
  /// 4:2:0 with chroma centred on its four pixels, as in JPEG: the default of streams without the
  /// tag.
  case jpeg = "420jpeg"
  /// 4:2:0 with chroma at the left pixels, as in MPEG-2 and H.264.
  case mpeg2 = "420mpeg2"
  /// 4:2:0 as in PAL DV.
  case palDV = "420paldv"
  /// 4:2:0 with unspecified positions.
  case unspecified = "420"
  /// Luma only.
  case mono = "mono"

  /// The pixel format of the frames.
  public var pixelFormat: PixelFormat { self == .mono ? .gray8 : .i420 }
}

/// A ratio of integers, such as frames per second.
public struct Rational: Sendable, Hashable, CustomStringConvertible {
  /// At least 1.
  public let numerator: Int
  /// At least 1.
  public let denominator: Int

  /// Creates a ratio, without reducing it. `nil` unless both are 1 to 2,147,483,647.
  public init?(_ numerator: Int, _ denominator: Int) {
    let range = 1 ... Int(Int32.max)
    guard range.contains(numerator), range.contains(denominator) else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The ratio as a number.
  public var value: Double { Double(self.numerator) / Double(self.denominator) }

  /// The text form: `30000:1001`.
  public var description: String { "\(self.numerator):\(self.denominator)" }
}
