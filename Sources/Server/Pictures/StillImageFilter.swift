import Foundation
package import SidelightCodecs
package import SidelightKernels
import SidelightScene
import SidelightTransport
package import SidelightWire

/// Filters still images using the same code as sessions. `Apply` and the command line both use it
/// and return identical results.
package struct StillImageFilter: Sendable {
  private let catalogue: FilterCatalogue
  private let executor: PlanExecutor
  private let codec: PictureCodec
  private let limits: FrameLimits
  private let maxPlanBytes: Int
  private let observer: any PassObserver

  /// - Parameters:
  ///   - catalogue: The filters of the pipelines.
  ///   - pool: The frame buffers.
  ///   - executor: Runs the plans.
  ///   - limits: The limits of a picture's size.
  package init(
    catalogue: FilterCatalogue, pool: BufferPool, executor: PlanExecutor, limits: ImageLimits
  ) {
    self.init(
      catalogue: catalogue, executor: executor,
      codec: PictureCodec(pool: pool, limits: limits, threads: 1),
      limits: FrameLimits(maxDimension: limits.maxDimension, maxPixels: limits.maxPixels))
  }

  /// - Parameters:
  ///   - maxPlanBytes: The maximum memory of a plan, in bytes.
  ///   - observer: Observes the passes.
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

  /// A filtered image.
  package struct Outcome: Sendable {
    /// The image with its bytes.
    package var image: Sidelight_V1_Image
    /// Whether the bytes differ from the input.
    package var isFiltered: Bool
  }

  /// Filters an image. Returns the input byte for byte if the pipeline doesn't change the image.
  ///
  /// - Parameters:
  ///   - image: The image, raw or a PNG or JPEG file, with its bytes inline.
  ///   - output: The form of the result.
  ///   - time: The position in a stream at which the image is filtered; by default the first frame.
  ///   - details: The values that stages can show.
  ///   - bands: The maximum number of threads to spread a pass over; `nil` depends on the frames in
  ///     flight.
  ///   - meter: Measures the work of the threads.
  /// - Throws: ``PipelineError``; ``FieldViolation``, which names the request's field, for an
  ///   invalid image or a result that is too large; or the error of a custom filter.
  package func apply(
    _ pipeline: Pipeline, to image: Sidelight_V1_Image, output: OutputShape,
    at time: FrameTime = FrameTime(), details: FrameDetails = FrameDetails(), bands: Int? = nil,
    meter: WorkMeter? = nil
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
    // Alpha, which is not searched, could show a face.
    let input = plan.hidesFaces ? frame.onBlack(in: self.codec.pool) : frame
    let scene =
      plan.sceneStages.isEmpty
      ? nil : try await StreamScene.still(input, at: time, for: plan, observer: self.observer)
    let result = try await self.executor.run(
      plan, on: input, at: time, scene: scene, details: details, bands: bands,
      observer: self.observer, meter: meter
    ).shown(delivery.orientation)
    return Outcome(
      image: try await self.image(of: result, as: delivery.coding, output.jpeg), isFiltered: true)
  }

  /// Filters a PNG or JPEG file. Returns the input byte for byte if the pipeline doesn't change it
  /// and the kind of file stays the same.
  ///
  /// - Throws: As ``apply(_:to:output:at:details:bands:meter:)``; ``CodecError`` if the file is
  ///   neither.
  package func apply(
    _ pipeline: Pipeline, toFile file: [UInt8], output: OutputShape,
    at time: FrameTime = FrameTime(), details: FrameDetails = FrameDetails()
  ) async throws -> [UInt8] {
    let format = ImageFileFormat(sniffing: file.span.bytes)
    guard let format else {
      throw CodecError(.unknownFormat, "the \(file.count) bytes are neither PNG nor JPEG")
    }
    var image = Sidelight_V1_Image()
    image.format = format == .png ? .png : .jpeg
    image.inline = Data(file)
    return [UInt8](
      try await self.apply(pipeline, to: image, output: output, at: time, details: details)
        .image.inline)
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
      case .h264, .vp8, .vp9, .av1:
        throw FieldViolation(
          field: "format", reason: "is a picture of a stream, which only sessions decode")
      default:
        let picture = try IncomingPicture(
          image, over: image.pixels == nil ? nil : .copy(of: image.inline), limits: self.limits,
          jpeg: self.codec.jpeg)
        return (try await self.codec.decode(picture), picture.form)
      }
    } catch let violation as FieldViolation {
      throw violation.within("image")
    } catch let unreadable as PictureCodec.Unreadable {
      throw unreadable.violation(in: image).within("image")
    }
  }

  private func decodePNG(_ image: Sidelight_V1_Image) throws(FieldViolation) -> Frame {
    let file = [UInt8](image.inline)
    guard ImageFileFormat(sniffing: file.span.bytes) == .png else {
      throw FieldViolation(
        field: "inline", reason: "has \(file.count) bytes that are not a PNG file")
    }
    let frame: Frame
    do throws(CodecError) {
      frame = try ImageDecoder(pool: self.codec.pool, limits: self.codec.limits).decode(file)
    } catch {
      throw FieldViolation(error, in: image)
    }
    try image.check(stated: frame.size)
    return frame.shown(try Orientation(image.orientation))
  }

  private func image(
    of frame: Frame, as coding: PictureCoding, _ settings: JPEGSettings
  ) async throws -> Sidelight_V1_Image {
    guard coding.isFile else { return Sidelight_V1_Image(frame) }
    var image = Sidelight_V1_Image()
    image.describe(of: frame.size, orientation: frame.orientation)
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
