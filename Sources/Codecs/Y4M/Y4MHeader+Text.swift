import SidelightKernels

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
