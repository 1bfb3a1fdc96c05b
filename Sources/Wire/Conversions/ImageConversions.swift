import Foundation
package import SidelightKernels

extension Sidelight_V1_Image {
  private func rawGeometry(
    limits: FrameLimits
  ) throws(FieldViolation) -> (SidelightKernels.PixelFormat, FrameSize) {
    guard let format = SidelightKernels.PixelFormat(self.format) else {
      throw FieldViolation(field: "format", reason: "\(self.format) is not a raw pixel format")
    }
    return (format, try limits.check(width: self.width, height: self.height))
  }

  /// Whether the image refers to pixels in shared memory.
  package var isInSlot: Bool {
    if case .sharedMemory? = self.pixels { true } else { false }
  }

  /// Returns the layout that a raw image states, checked against the number of received bytes.
  ///
  /// - Throws: ``FieldViolation`` with a field relative to the image.
  private func rawLayout(
    limits: FrameLimits, available: Int
  ) throws(FieldViolation) -> FrameLayout {
    let (format, size) = try self.rawGeometry(limits: limits)
    do {
      if self.planes.isEmpty {
        let layout = try FrameLayout(packed: format, size: size)
        guard layout.byteCount == available else {
          throw FieldViolation(
            field: self.isInSlot ? "shared_memory.length" : "inline",
            reason: "has \(available) bytes, \(size) \(format.rawValue) without padding has "
              + "\(layout.byteCount)",
            info: .outOfRange(available, limit: layout.byteCount))
        }
        return layout
      }
      let planes = self.planes.map { PlaneLayout(offset: Int($0.offset), stride: Int($0.stride)) }
      return try FrameLayout(format: format, size: size, planes: planes, available: available)
    } catch let violation as FieldViolation {
      throw violation
    } catch {
      throw FieldViolation(field: "planes", reason: "\(error)")
    }
  }

  /// Returns the frame that a raw image describes, with the received pixels.
  ///
  /// - Parameters:
  ///   - pixels: The received pixels, if any.
  ///   - limits: The maximum size of a frame.
  /// - Throws: ``FieldViolation`` with a field relative to the image.
  package func frame(
    over pixels: PixelBuffer?, limits: FrameLimits
  ) throws(FieldViolation) -> Frame {
    // An invalid description takes precedence over missing pixels.
    guard let pixels else {
      _ = try self.rawGeometry(limits: limits)
      throw FieldViolation(
        field: "pixels",
        reason: self.isInSlot
          ? "are in shared memory, and the session has no ring" : "no inline pixels were sent")
    }
    return Frame(
      layout: try self.rawLayout(limits: limits, available: pixels.byteCount),
      color: ColorDescription(self.color), orientation: try Orientation(self.orientation),
      buffer: pixels)
  }

  /// Creates an image with the pixels of a frame, without padding.
  package init(_ frame: Frame) {
    self.init()
    self.describe(frame.geometry, orientation: frame.orientation)
    self.inline = frame.packedBytes()
  }

  /// Describes a JPEG file or a part of a stream of video, without its bytes.
  ///
  /// - Parameters:
  ///   - format: The compressed format.
  ///   - size: The size. `nil` omits it, since the file or the stream states it.
  package mutating func describe(
    _ format: Sidelight_V1_PixelFormat = .jpeg, of size: FrameSize?, orientation: Orientation
  ) {
    self.format = format
    self.width = UInt32(size?.width ?? 0)
    self.height = UInt32(size?.height ?? 0)
    if orientation != .upright {
      self.orientation = Sidelight_V1_Orientation(orientation)
    }
  }

  /// Describes a frame, without its pixels.
  package mutating func describe(_ geometry: FrameGeometry, orientation: Orientation) {
    self.format = Sidelight_V1_PixelFormat(geometry.format)
    self.width = UInt32(geometry.size.width)
    self.height = UInt32(geometry.size.height)
    self.color = Sidelight_V1_ColorDescription(geometry.color, of: geometry.format)
    if orientation != .upright {
      self.orientation = Sidelight_V1_Orientation(orientation)
    }
  }

  /// Describes a frame to filter, without its pixels.
  ///
  /// The range of RGB and grey frames is stated only if it is not the default. It is the range of
  /// results that are converted to YUV.
  package mutating func describe(input geometry: FrameGeometry, orientation: Orientation) {
    self.describe(geometry, orientation: orientation)
    if !geometry.format.isYUV, geometry.color.range == .video { self.color.range = .unspecified }
  }
}

extension PixelFormat {
  /// Creates a raw format. `nil` for compressed and unknown formats.
  package init?(_ wire: Sidelight_V1_PixelFormat) {
    self.init(equal: wire, by: Sidelight_V1_PixelFormat.init)
  }
}

extension Sidelight_V1_PixelFormat {
  package init(_ format: PixelFormat) {
    self =
      switch format {
      case .bgra8: .bgra8
      case .rgba8: .rgba8
      case .rgb24: .rgb24
      case .gray8: .gray8
      case .i420: .i420
      case .nv12: .nv12
      }
  }
}

extension Sidelight_V1_PixelFormat {
  /// Whether pictures of the format are compressed: a file, or a part of a stream.
  package var isCompressed: Bool {
    switch self {
    case .jpeg, .png, .h264, .vp8, .vp9, .av1: true
    case .unspecified, .bgra8, .rgba8, .rgb24, .gray8, .i420, .nv12, .UNRECOGNIZED: false
    }
  }
}

extension CaseIterable {
  /// Finds the case that is equal to a value of the contract; `nil` if there isn't one.
  package init?<Wire: Equatable>(equal wire: Wire, by convert: (Self) -> Wire) {
    guard let value = Self.allCases.first(where: { convert($0) == wire }) else { return nil }
    self = value
  }
}

extension ColorDescription {
  /// Creates a description. Unknown values, which newer senders may use, count as unspecified.
  package init(_ wire: Sidelight_V1_ColorDescription) {
    self.init(
      range: wire.range == .full ? .full : .video,
      matrix: wire.matrix == .bt709 ? .bt709 : .bt601,
      alpha: AlphaMode(wire.alpha))
  }
}

extension AlphaMode {
  fileprivate init(_ wire: Sidelight_V1_AlphaMode) {
    switch wire {
    case .opaque: self = .opaque
    case .premultiplied: self = .premultiplied
    case .straight, .unspecified, .UNRECOGNIZED: self = .straight
    }
  }
}

extension Sidelight_V1_ColorDescription {
  /// Creates the description of a picture. RGB and grey have full range; the range of the
  /// description applies to YUV.
  package init(_ color: ColorDescription, of format: SidelightKernels.PixelFormat) {
    self.init()
    self.range = color.range == .full || !format.isYUV ? .full : .video
    self.matrix = color.matrix == .bt709 ? .bt709 : .bt601
    self.alpha =
      switch color.alpha {
      case .opaque: .opaque
      case .premultiplied: .premultiplied
      case .straight: .straight
      }
  }
}

extension Orientation {
  /// Creates an orientation.
  ///
  /// - Throws: ``FieldViolation`` for an unknown rotation.
  package init(_ wire: Sidelight_V1_Orientation) throws(FieldViolation) {
    let turns =
      switch wire.rotation {
      case .unspecified: 0
      case .rotation90: 1
      case .rotation180: 2
      case .rotation270: 3
      case .UNRECOGNIZED(let value):
        throw FieldViolation(
          field: "orientation.rotation", reason: "\(value) is not a known rotation")
      }
    self.init(quarterTurns: turns, isMirrored: wire.mirrored)
  }
}

extension Sidelight_V1_Orientation {
  package init(_ orientation: Orientation) {
    self.init()
    self.mirrored = orientation.isMirrored
    self.rotation =
      switch orientation.quarterTurns {
      case 1: .rotation90
      case 2: .rotation180
      case 3: .rotation270
      default: .unspecified
      }
  }
}

/// A format of predicted video.
public enum EncodedFormat: String, Sendable, Hashable, CaseIterable {
  /// H.264, in the byte stream format of Annex B.
  case h264
  /// VP8.
  case vp8
  /// VP9, profile 0.
  case vp9
  /// AV1, 8 bits, 4:2:0. Servers decode it and do not encode it.
  case av1

  /// - Returns: `nil` for other formats.
  package init?(_ wire: Sidelight_V1_PixelFormat) {
    self.init(equal: wire, by: Sidelight_V1_PixelFormat.init)
  }
}

extension Sidelight_V1_PixelFormat {
  package init(_ format: EncodedFormat) {
    self =
      switch format {
      case .h264: .h264
      case .vp8: .vp8
      case .vp9: .vp9
      case .av1: .av1
      }
  }
}
