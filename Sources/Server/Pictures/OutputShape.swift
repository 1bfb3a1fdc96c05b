package import SidelightCodecs
package import SidelightKernels
package import SidelightWire

/// The form in which somebody asked for results: a checked `OutputSpec`.
package struct OutputShape: Sendable, Hashable {
  /// What is done to pictures of one form after the pipeline, and what they are then.
  package struct Delivery: Sendable, Hashable {
    /// What they are turned and fitted to.
    package var shape: FrameShape
    /// What their samples are encoded as; `nil`: as they are.
    package var encoding: FrameEncoding?
    /// How they travel.
    package var coding: PictureCoding
    /// How they are to be shown.
    package var orientation: Orientation

    /// Whether pictures of a form that nothing is done to come back as they are, byte for byte. A
    /// file of the kind that was asked for is not encoded again, whatever its samples are.
    ///
    /// - Parameter plan: What is done to samples, if they stay encoded as they are.
    func changesNothing(in form: PictureForm, _ plan: () -> Plan) -> Bool {
      self.coding == form.coding && plan().isIdentity
    }
  }

  /// How results travel; `nil`: as their pictures came.
  package private(set) var coding: PictureCoding?
  /// Their size; sides that are not stated follow.
  package private(set) var size = FrameShape()
  /// Whether they are turned as they are to be shown.
  package private(set) var isUpright = false
  /// How JPEGs are written.
  package private(set) var jpeg = JPEGSettings()

  /// Results as their pictures came.
  package init() {}

  /// Results that travel as stated, and else as their pictures came.
  package init(coding: PictureCoding, jpeg: JPEGSettings = JPEGSettings()) {
    self.coding = coding
    self.jpeg = jpeg
  }

  /// - Parameters:
  ///   - limits: How large a result may be.
  ///   - allowsPNG: Whether results may be PNG files, which is for stills.
  /// - Throws: ``FieldFault`` for a value outside its range; its field is relative to the message.
  package init(
    _ wire: Sidelight_V1_OutputSpec, limits: FrameLimits, allowsPNG: Bool
  ) throws(FieldFault) {
    if wire.format != .unspecified {
      guard let coding = PictureCoding(wire.format) else {
        throw FieldFault(field: "format", reason: "\(wire.format.rawValue) is no pixel format")
      }
      guard coding != .png || allowsPNG else {
        throw FieldFault(field: "format", reason: "PNG is for stills, not for streams")
      }
      self.coding = coding
    }
    // A side that is not stated is at least a pixel.
    let size = FrameSize(width: max(1, Int(wire.width)), height: max(1, Int(wire.height)))
    for (name, side) in [("width", size.width), ("height", size.height)]
    where side > limits.maxDimension {
      throw FieldFault(field: name, reason: "is \(side), the limit is \(limits.maxDimension)")
    }
    guard size.pixelCount <= limits.maxPixels else {
      throw FieldFault(
        field: "width",
        reason: "\(size) is \(size.pixelCount) pixels, the limit is \(limits.maxPixels)")
    }
    self.size.width = wire.width == 0 ? nil : size.width
    self.size.height = wire.height == 0 ? nil : size.height
    self.size.fit = try PictureFit(wire.fit)
    self.isUpright = wire.upright
    guard wire.jpegQuality <= 100 else {
      throw FieldFault(field: "jpeg_quality", reason: "is \(wire.jpegQuality), the limit is 100")
    }
    if wire.jpegQuality > 0 { self.jpeg.quality = Int(wire.jpegQuality) }
    self.jpeg.subsampling = try JPEGSubsampling(wire.jpegSubsampling)
  }

  /// What is done to pictures of a form, and what they are then.
  ///
  /// Samples that become a file of another kind than they came in, or a file at all, are turned
  /// upright: files say nothing of how they are to be shown.
  package func delivery(of form: PictureForm) -> Delivery {
    let coding = self.coding ?? form.coding
    let isUpright = self.isUpright || (coding.isFile && !form.coding.isFile)
    var shape = self.size
    if isUpright { shape.orientation = form.orientation }
    return Delivery(
      shape: shape, encoding: self.encoding(of: form, as: coding), coding: coding,
      orientation: isUpright ? .upright : form.orientation)
  }

  /// What samples are best encoded as before they travel so.
  private func encoding(of form: PictureForm, as coding: PictureCoding) -> FrameEncoding? {
    let geometry = form.geometry
    switch coding {
    case .raw(let format):
      guard self.coding != nil || form.coding.isFile else { return nil }
      return FrameEncoding(format: format, color: geometry.color)
    case .jpeg:
      // A grey picture stays one; else the samples are those that the file stores.
      if geometry.format == .gray8 { return nil }
      return self.jpeg.subsampling == .quarter
        ? FrameEncoding(format: .i420, color: .jpeg) : FrameEncoding(format: .rgb24)
    case .png:
      return geometry.format.isYUV ? FrameEncoding(format: .rgb24) : nil
    }
  }
}

extension PictureFit {
  fileprivate init(_ wire: Sidelight_V1_FitMode) throws(FieldFault) {
    switch wire {
    case .unspecified, .aspectFit: self = .fit
    case .aspectFill: self = .fill
    case .stretch: self = .stretch
    case .UNRECOGNIZED(let value):
      throw FieldFault(field: "fit", reason: "\(value) is no fit mode")
    }
  }
}

extension JPEGSubsampling {
  fileprivate init(_ wire: Sidelight_V1_ChromaSubsampling) throws(FieldFault) {
    switch wire {
    case .unspecified, .chromaSubsampling420: self = .quarter
    case .chromaSubsampling422: self = .half
    case .chromaSubsampling444: self = .none
    case .UNRECOGNIZED(let value):
      throw FieldFault(field: "jpeg_subsampling", reason: "\(value) is no chroma subsampling")
    }
  }
}
