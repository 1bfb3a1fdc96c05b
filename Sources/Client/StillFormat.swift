import Foundation
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// The kind of a still image's file.
public enum StillFormat: Sendable, Hashable {
  /// Lossless.
  case png
  /// - Parameters:
  ///   - quality: 1 ... 100.
  ///   - keepsFullChroma: Whether each pixel keeps its own colour (4:4:4), or four share one (4:2:0).
  case jpeg(quality: Int = 90, keepsFullChroma: Bool = true)

  static func request(
    _ pipeline: Pipeline, file: [UInt8], format: StillFormat, frameIndex: UInt64
  ) -> Sidelight_V1_ApplyRequest {
    .with {
      $0.pipeline = Sidelight_V1_Pipeline(pipeline)
      $0.frameIndex = frameIndex
      // The server looks at the file itself; of the kinds, either says that it is one.
      $0.image.format = file.starts(with: [0x89]) ? .png : .jpeg
      $0.image.inline = Data(file)
      switch format {
      case .png: $0.output.format = .png
      case .jpeg(let quality, let keepsFullChroma):
        $0.output.format = .jpeg
        $0.output.jpegQuality = UInt32(clamping: quality)
        $0.output.jpegSubsampling = keepsFullChroma ? .chromaSubsampling444 : .chromaSubsampling420
      }
    }
  }
}
