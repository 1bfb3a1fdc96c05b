import GRPCCore
package import SidelightCodecs
package import SidelightKernels
package import SidelightWire

/// The requested form of results: a valid `OutputSpec`.
package struct OutputShape: Sendable, Hashable {
  /// The conversion of pictures of one form after the pipeline, and its result.
  package struct Delivery: Sendable, Hashable {
    /// The shape that they are rotated and fitted to.
    package var shape: FrameShape
    /// The encoding of their samples. `nil` keeps it.
    package var encoding: FrameEncoding?
    package var coding: PictureCoding
    /// The orientation in which to show them.
    package var orientation: Orientation

    /// Whether unchanged pictures are encoded again.
    var reencodes: Bool

    /// Returns whether pictures of a form come back unchanged, byte for byte. A file of the
    /// requested kind is not encoded again, whatever the format of its samples.
    ///
    /// - Parameter plan: Returns the plan that keeps the encoding of samples.
    func changesNothing(in form: PictureForm, _ plan: () -> Plan) -> Bool {
      self.coding == form.coding && !self.reencodes && plan().isIdentity
    }
  }

  /// The coding of results. `nil` keeps the pictures' coding.
  package private(set) var coding: PictureCoding?
  /// The size of results; an unspecified side follows from the other.
  package private(set) var size = FrameShape()
  /// Whether results are rotated upright.
  package private(set) var isUpright = false
  package private(set) var jpeg = JPEGSettings()
  /// Whether the encoder of video has settings of its own, for which unchanged pictures are encoded
  /// again.
  package private(set) var hasEncoderSettings = false

  /// Whether results stay samples in memory, which named outputs convert.
  private(set) var keepsSamples = false

  /// Keeps the form of the pictures.
  package init() {}

  /// The shape of results that named outputs convert.
  static let samples = {
    var shape = OutputShape()
    shape.keepsSamples = true
    return shape
  }()

  /// Changes the coding, and keeps the form otherwise.
  package init(coding: PictureCoding, jpeg: JPEGSettings = JPEGSettings()) {
    self.coding = coding
    self.jpeg = jpeg
  }

  /// - Parameters:
  ///   - limits: The limits of a result's size.
  ///   - allowsPNG: Whether results may be PNG files. Only for still images.
  /// - Throws: ``FieldViolation`` for a value outside its range. The field is relative to the
  ///   message.
  package init(
    _ wire: Sidelight_V1_OutputSpec, limits: FrameLimits, allowsPNG: Bool
  ) throws(FieldViolation) {
    if wire.format != .unspecified {
      guard let coding = PictureCoding(wire.format) else {
        throw FieldViolation(
          field: "format", reason: "is \(wire.format.rawValue), which is not a pixel format")
      }
      guard coding != .png || allowsPNG else {
        throw FieldViolation(
          field: "format", reason: "is PNG, which is only for still images, not for streams")
      }
      if let codec = coding.codec {
        guard !allowsPNG else {
          throw FieldViolation(
            field: "format", reason: "is \(codec.name), which is for streams, not for still images")
        }
        guard codec.canEncode else {
          throw FieldViolation(lacking: codec, field: "format", to: "encode")
        }
      }
      self.coding = coding
    }
    try self.setSize(width: wire.width, height: wire.height, limits)
    self.size.fit = try PictureFit(wire.fit)
    self.isUpright = wire.upright
    try ContractLimits.check(wire.jpegQuality, atMost: 100, field: "jpeg_quality")
    if wire.jpegQuality > 0 { self.jpeg.quality = Int(wire.jpegQuality) }
    self.jpeg.subsampling = try JPEGSubsampling(wire.jpegSubsampling)
    self.hasEncoderSettings = wire.hasEncoder
  }

  /// Changes the size of encoded results for later frames.
  ///
  /// - Throws: ``FieldViolation`` for a value outside its range. The field is relative to the
  ///   message.
  package mutating func apply(
    _ change: Sidelight_V1_SetEncoder, limits: FrameLimits
  ) throws(FieldViolation) {
    if let coding = self.coding, coding.codec == nil {
      throw FieldViolation(
        code: .failedPrecondition, field: "", reason: "needs an output that is encoded video")
    }
    if change.width != 0 || change.height != 0 {
      try self.setSize(width: change.width, height: change.height, limits)
    }
    self.hasEncoderSettings = true
  }

  /// Returns the shape with another size of the same aspect ratio.
  func scaled(to size: FrameSize) -> OutputShape {
    var scaled = self
    scaled.size.width = size.width
    scaled.size.height = size.height
    // Sizes are rounded; bars of a part of a pixel would show.
    scaled.size.fit = .stretch
    return scaled
  }

  private mutating func setSize(
    width: UInt32, height: UInt32, _ limits: FrameLimits
  ) throws(FieldViolation) {
    // An unspecified side has at least one pixel.
    let size = FrameSize(width: max(1, Int(width)), height: max(1, Int(height)))
    for (name, side) in [("width", width), ("height", height)] {
      try ContractLimits.check(side, atMost: limits.maxDimension, field: name)
    }
    try limits.checkPixelCount(of: size)
    self.size.width = width == 0 ? nil : size.width
    self.size.height = height == 0 ? nil : size.height
  }

  /// Returns the conversion for pictures of a form.
  ///
  /// Samples that become a file are rotated upright, because files don't state an orientation.
  package func delivery(of form: PictureForm) -> Delivery {
    let coding =
      self.keepsSamples ? .raw(form.geometry.format) : self.coding ?? form.coding.answer
    let isUpright = self.isUpright || (coding.isFile && !form.coding.isFile)
    var shape = self.size
    if isUpright { shape.orientation = form.orientation }
    return Delivery(
      shape: shape, encoding: self.encoding(of: form, as: coding), coding: coding,
      orientation: isUpright ? .upright : form.orientation,
      reencodes: coding.codec != nil && self.hasEncoderSettings)
  }

  /// Returns the best encoding of samples for a coding.
  private func encoding(of form: PictureForm, as coding: PictureCoding) -> FrameEncoding? {
    if self.keepsSamples { return nil }
    let geometry = form.geometry
    switch coding {
    case .raw(let format):
      guard self.coding != nil || form.coding.isCompressed else { return nil }
      return FrameEncoding(format: format, color: geometry.color)
    case .jpeg:
      // A grey picture stays grey. For others, the encoding is the one that the file stores.
      if geometry.format == .gray8 { return nil }
      return self.jpeg.subsampling == .quarter
        ? FrameEncoding(format: .i420, color: .jpeg) : FrameEncoding(format: .rgb24)
    case .png:
      return geometry.format.isYUV ? FrameEncoding(format: .rgb24) : nil
    case .video(let codec):
      // VP8 does not state a matrix; decoders assume BT.601.
      var color = ColorDescription()
      if codec != .vp8 { color.matrix = geometry.color.matrix }
      return FrameEncoding(format: .i420, color: color)
    }
  }
}

extension PictureFit {
  init(_ wire: Sidelight_V1_FitMode) throws(FieldViolation) {
    switch wire {
    case .unspecified, .aspectFit: self = .fit
    case .aspectFill: self = .fill
    case .stretch: self = .stretch
    case .UNRECOGNIZED(let value):
      throw FieldViolation(field: "fit", reason: "is \(value), which is not a fit mode")
    }
  }
}

extension JPEGSubsampling {
  fileprivate init(_ wire: Sidelight_V1_ChromaSubsampling) throws(FieldViolation) {
    switch wire {
    case .unspecified, .chromaSubsampling420: self = .quarter
    case .chromaSubsampling422: self = .half
    case .chromaSubsampling444: self = .none
    case .UNRECOGNIZED(let value):
      throw FieldViolation(
        field: "jpeg_subsampling", reason: "is \(value), which is not a chroma subsampling")
    }
  }
}
