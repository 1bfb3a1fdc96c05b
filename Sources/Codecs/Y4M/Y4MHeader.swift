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

extension Y4MHeader {
  /// Reads a header line.
  ///
  /// - Parameter line: The line without its newline.
  /// - Throws: ``CodecError``: `unknownFormat` if it is no header line, `corrupt` for a tag that
  ///   makes no sense or a size that is missing, `unsupported` for interlaced streams and other
  ///   chroma.
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

  /// `nil` for 0:0 and the like, which say that the ratio is not known.
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
        .unsupported, "chroma C\(value.visible) is not read; convert it first: -pix_fmt yuv420p")
    }
    return chroma
  }
}

extension Substring {
  /// The first 40 characters, without control characters: fit to be shown on a terminal.
  fileprivate var visible: String {
    String(self.prefix(40).map { $0.unicodeScalars.allSatisfy { $0.value >= 32 } ? $0 : "?" })
  }
}

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

/// A ratio of whole numbers: frames a second, or a pixel's width to its height.
public struct Rational: Sendable, Hashable, CustomStringConvertible {
  /// At least 1.
  public let numerator: Int
  /// At least 1.
  public let denominator: Int

  /// `nil` unless both are 1 ... 2,147,483,647. The ratio is not reduced.
  public init?(_ numerator: Int, _ denominator: Int) {
    let range = 1 ... Int(Int32.max)
    guard range.contains(numerator), range.contains(denominator) else { return nil }
    self.numerator = numerator
    self.denominator = denominator
  }

  /// The ratio as a number.
  public var value: Double { Double(self.numerator) / Double(self.denominator) }

  /// `30000:1001`.
  public var description: String { "\(self.numerator):\(self.denominator)" }
}
