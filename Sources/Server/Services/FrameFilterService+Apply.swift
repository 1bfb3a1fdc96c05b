import Foundation
import GRPCCore
import GRPCProtobuf
import SidelightCodecs
import SidelightKernels
import SidelightWire
import SwiftProtobuf

extension FrameFilterService {
  func apply(
    request: ServerRequest<Sidelight_V1_ApplyRequest>, context: ServerContext
  ) async throws -> ServerResponse<Sidelight_V1_ApplyResponse> {
    let request = request.message
    let started = self.engine.clock.now()
    let pipeline: Pipeline
    do throws(FieldFault) {
      pipeline = try Pipeline(request.pipeline)
    } catch {
      throw error.within("pipeline")
    }
    // Stills take turns with the sessions' frames, all stills together as if they were one session's.
    // Decoding and encoding are work for the compute pool too.
    let (image, isFiltered) = try await self.engine.scheduler.withTurn(
      session: .max, deadline: started + Self.patience
    ) { _ in
      try await withTaskExecutorPreference(self.engine.compute) {
        try await self.apply(pipeline, to: request.image, output: request.output)
      }
    }
    let elapsed = (self.engine.clock.now() - started).wireMicroseconds
    let response = Sidelight_V1_ApplyResponse.with {
      $0.image = image
      $0.disposition = isFiltered ? .filtered : .passedThrough
      $0.timing.processUs = elapsed
      $0.timing.totalUs = elapsed
    }
    return ServerResponse(message: response)
  }

  private static let patience = Duration.seconds(1)

  private func apply(
    _ pipeline: Pipeline, to image: Sidelight_V1_Image, output: Sidelight_V1_OutputSpec
  ) async throws -> (image: Sidelight_V1_Image, isFiltered: Bool) {
    let target = try Self.target(of: output, for: image.format)
    let still = StillImageFilter(
      catalogue: self.engine.catalogue, pool: self.engine.pool, executor: self.engine.executor,
      limits: ImageLimits(
        maxPixels: self.engine.frameLimits.maxPixels,
        maxDimension: self.engine.frameLimits.maxDimension),
      observer: self.engine.tracing.passObserver)
    do {
      switch image.format {
      case .png, .jpeg:
        guard let target else {
          throw FieldFault(
            code: .unimplemented, field: "output.format",
            reason: "this server answers a compressed image with a compressed one")
        }
        let outcome = try await still.apply(
          pipeline, toFile: [UInt8](image.inline), writing: target)
        var result = Sidelight_V1_Image()
        result.format = target.wireFormat
        result.inline = Data(outcome.content)
        return (result, outcome.isFiltered)
      default:
        let frame = try self.frame(of: image)
        let outcome = try await still.apply(pipeline, to: frame)
        if let target {
          var result = Sidelight_V1_Image()
          result.format = target.wireFormat
          result.inline = Data(try await still.encode(outcome.content, as: target))
          return (result, outcome.isFiltered)
        }
        guard outcome.isFiltered else { return (image, false) }
        return (Sidelight_V1_Image(outcome.content), true)
      }
    } catch let error as PipelineError {
      throw FieldFault(error).within("pipeline")
    } catch let error as CodecError {
      throw FieldFault(field: "image.inline", reason: "\(error)")
    }
  }

  private func frame(of image: Sidelight_V1_Image) throws(FieldFault) -> Frame {
    do throws(FieldFault) {
      return try image.makeFrame(limits: self.engine.frameLimits, pool: self.engine.pool)
    } catch {
      throw error.within("image")
    }
  }

  /// - Returns: The kind of file to write; `nil` for a raw image.
  private static func target(
    of output: Sidelight_V1_OutputSpec, for input: Sidelight_V1_PixelFormat
  ) throws(FieldFault) -> ImageEncoder.Target? {
    guard output.width == 0, output.height == 0, !output.upright else {
      throw FieldFault(
        code: .unimplemented, field: "output",
        reason: "this server does not scale or turn yet; see features in GetServerInfo")
    }
    switch output.format == .unspecified ? input : output.format {
    case .png: return .png()
    case .jpeg:
      guard output.jpegQuality <= 100 else {
        throw FieldFault(
          field: "output.jpeg_quality", reason: "is \(output.jpegQuality), the limit is 100")
      }
      return .jpeg(
        quality: output.jpegQuality == 0 ? 80 : Int(output.jpegQuality),
        subsampling: try JPEGSubsampling(output.jpegSubsampling))
    case let format where format == input: return nil
    case let format:
      throw FieldFault(
        code: .unimplemented, field: "output.format",
        reason: "\(input) is not converted to \(format)")
    }
  }
}

extension ImageEncoder.Target {
  fileprivate var wireFormat: Sidelight_V1_PixelFormat {
    switch self {
    case .png: .png
    case .jpeg: .jpeg
    }
  }
}

extension JPEGSubsampling {
  fileprivate init(_ wire: Sidelight_V1_ChromaSubsampling) throws(FieldFault) {
    switch wire {
    case .unspecified, .chromaSubsampling420: self = .quarter
    case .chromaSubsampling444: self = .none
    case .chromaSubsampling422, .UNRECOGNIZED:
      throw FieldFault(
        code: .unimplemented, field: "output.jpeg_subsampling", reason: "is neither 4:2:0 nor 4:4:4"
      )
    }
  }
}
