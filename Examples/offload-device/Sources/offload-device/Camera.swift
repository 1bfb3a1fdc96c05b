import Foundation
import SidelightClient
import SidelightCodecs

/// The pictures of a Y4M file, at their own times.
final class Camera: @unchecked Sendable {  // one task reads
  let size: FrameSize
  let frameRate: Double
  private var reader: Y4MReader
  private var index = 0
  private let start = ContinuousClock.now

  init(path: String) throws {
    let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
    // VP8 has no field to state another matrix.
    self.reader = try Y4MReader(pool: BufferPool(), matrix: .bt601) { span in
      guard let bytes = try file.read(upToCount: span.byteCount) else { return 0 }
      return span.withUnsafeMutableBytes { bytes.copyBytes(to: $0) }
    }
    self.size = self.reader.header.size
    self.frameRate = self.reader.header.frameRate?.value ?? 30
  }

  /// Waits for the next picture, and returns it with its time from the start; `nil` at the end.
  func next() async throws -> (picture: Frame, time: Duration)? {
    guard let picture = try self.reader.next() else { return nil }
    let time = Duration.seconds(Double(self.index) / self.frameRate)
    self.index += 1
    try await ContinuousClock().sleep(until: self.start + time)
    return (picture, time)
  }
}
