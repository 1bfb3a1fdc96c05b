import Foundation
package import SidelightCodecs
package import SidelightKernels
import SidelightTransport
package import SidelightWire

/// Filters stills with the very code that sessions run. `Apply` and the command line both come here,
/// so their bytes are the same.
package struct StillImageFilter: Sendable {
  private let catalogue: FilterCatalogue
  private let executor: PlanExecutor
  private let codec: PictureCodec
  private let limits: FrameLimits
  private let maxPlanBytes: Int
  private let observer: any PassObserver

  /// - Parameters:
  ///   - catalogue: The filters that pipelines may choose from.
  ///   - pool: Where buffers come from.
  ///   - executor: Where pixels are computed.
  ///   - limits: How large a picture may be.
  package init(
    catalogue: FilterCatalogue, pool: BufferPool, executor: PlanExecutor, limits: ImageLimits
  ) {
    self.init(
      catalogue: catalogue, executor: executor,
      codec: PictureCodec(pool: pool, limits: limits, threads: 1),
      limits: FrameLimits(maxDimension: limits.maxDimension, maxPixels: limits.maxPixels))
  }

  /// - Parameters:
  ///   - maxPlanBytes: What a pipeline may hold in memory.
  ///   - observer: Told of each pass.
  init(
    catalogue: FilterCatalogue, executor: PlanExecutor, codec: PictureCodec, limits: FrameLimits,
    maxPlanBytes: Int = .max, observer: any PassObserver = NoPassObserver()
  ) {
    self.catalogue = catalogue
    self.executor = executor
    self.codec = codec
    self.limits = limits
    self.maxPlanBytes = maxPlanBytes
    self.observer = observer
  }

  /// A still as it goes out, and whether anything was done to it.
  package struct Outcome: Sendable {
    /// What it is, and its bytes.
    package var image: Sidelight_V1_Image
    /// Whether the bytes are others than those that came.
    package var isFiltered: Bool
  }

  /// Filters a picture. One that nothing is done to comes back byte by byte.
  ///
  /// - Parameters:
  ///   - image: Raw, or a PNG or JPEG file; its bytes inline.
  ///   - output: What is to come back.
  ///   - moment: The frame of a session as which the picture is filtered; by default the first.
  ///   - bands: Over how many threads a pass is spread at most; `nil`: by the frames in flight.
  ///   - meter: Is told what the bands cost.
  /// - Throws: ``PipelineError``; ``FieldFault``, whose field is that of the request, for an image
  ///   that cannot be read or a result that is too large; or whatever a custom filter throws.
  package func apply(
    _ pipeline: Pipeline, to image: Sidelight_V1_Image, output: OutputShape,
    at moment: FrameMoment = FrameMoment(), bands: Int? = nil, meter: WorkMeter? = nil
  ) async throws -> Outcome {
    let pipeline = try self.catalogue.resolve(pipeline)
    let (frame, form) = try await self.frame(of: image)
    let delivery = output.delivery(of: form)
    let shaped = pipeline.shaped(delivery.shape)
    let changesNothing = delivery.changesNothing(in: form) {
      shaped.plan(for: form.geometry, maxBytes: self.maxPlanBytes)
    }
    if changesNothing { return Outcome(image: image, isFiltered: false) }
    let plan = shaped.plan(
      for: form.geometry, as: delivery.encoding, maxBytes: self.maxPlanBytes)
    try plan.checkCost()
    var limits = self.limits
    if delivery.coding.isFile { limits.maxBytes = .max }
    try limits.check(output: plan.output, field: delivery.shape.isAny ? "pipeline" : "output")
    let made = try await self.executor.run(
      plan, on: frame, at: moment, bands: bands, observer: self.observer, meter: meter
    ).shown(delivery.orientation)
    return Outcome(
      image: try await self.image(of: made, as: delivery.coding, output.jpeg), isFiltered: true)
  }

  /// Filters a PNG or JPEG file. One that nothing is done to, and whose kind stays, comes back byte by
  /// byte.
  ///
  /// - Throws: As ``apply(_:to:output:at:bands:meter:)``; ``CodecError`` for bytes that are neither.
  package func apply(
    _ pipeline: Pipeline, toFile file: [UInt8], output: OutputShape,
    at moment: FrameMoment = FrameMoment()
  ) async throws -> [UInt8] {
    let format = ImageFileFormat(sniffing: file.span.bytes)
    guard let format else {
      throw CodecError(.unknownFormat, "the \(file.count) bytes are neither PNG nor JPEG")
    }
    var image = Sidelight_V1_Image()
    image.format = format == .png ? .png : .jpeg
    image.inline = Data(file)
    return [UInt8](
      try await self.apply(pipeline, to: image, output: output, at: moment).image.inline)
  }

  private func frame(
    of image: Sidelight_V1_Image
  ) async throws -> (Frame, PictureForm) {
    do {
      switch image.format {
      case .png:
        let frame = try self.decodePNG(image)
        return (
          frame,
          PictureForm(coding: .png, geometry: frame.geometry, orientation: frame.orientation)
        )
      default:
        let picture = try IncomingPicture(
          image, over: image.pixels == nil ? nil : .copy(of: image.inline), limits: self.limits,
          jpeg: self.codec.jpeg)
        return (try await self.codec.decode(picture), picture.form)
      }
    } catch let fault as FieldFault {
      throw fault.within("image")
    } catch let unreadable as PictureCodec.Unreadable {
      throw unreadable.fault(in: image).within("image")
    }
  }

  private func decodePNG(_ image: Sidelight_V1_Image) throws(FieldFault) -> Frame {
    let file = [UInt8](image.inline)
    guard ImageFileFormat(sniffing: file.span.bytes) == .png else {
      throw FieldFault(field: "inline", reason: "the \(file.count) bytes are no PNG")
    }
    let frame: Frame
    do throws(CodecError) {
      frame = try ImageDecoder(pool: self.codec.pool, limits: self.codec.limits).decode(file)
    } catch {
      throw FieldFault(error, in: image)
    }
    try image.check(stated: frame.size)
    return frame.shown(try Orientation(image.orientation))
  }

  private func image(
    of frame: Frame, as coding: PictureCoding, _ settings: JPEGSettings
  ) async throws -> Sidelight_V1_Image {
    guard coding.isFile else { return Sidelight_V1_Image(frame) }
    var image = Sidelight_V1_Image()
    image.describe(jpegOf: frame.size, orientation: frame.orientation)
    image.format = Sidelight_V1_PixelFormat(coding)
    if coding == .png {
      image.inline = Data(try ImageEncoder(.png()).encode(frame))
    } else {
      image.inline = try await self.codec.withJPEG(of: frame, settings) { file in
        file.withUnsafeBytes { Data($0) }
      }
    }
    return image
  }
}

extension PixelBuffer {
  /// Returns a copy of the bytes of a message's field.
  fileprivate static func copy(of data: Data) -> PixelBuffer {
    data.withUnsafeBytes { PixelBuffer(copying: $0) }
  }
}
