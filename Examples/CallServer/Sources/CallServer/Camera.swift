import SidelightClient

/// A simulated camera: 30 frames per second of a moving ramp.
struct Camera: AsyncSequence {
  let frameCount: Int

  func makeAsyncIterator() -> Iterator { Iterator(frameCount: self.frameCount) }

  struct Iterator: AsyncIteratorProtocol {
    let frameCount: Int
    private let geometry = FrameGeometry(format: .i420, size: FrameSize(width: 640, height: 360))
    private let pool = BufferPool()
    private let start = ContinuousClock.now
    private var index = 0

    init(frameCount: Int) { self.frameCount = frameCount }

    mutating func next() async throws -> VideoFrame? {
      guard self.index < self.frameCount else { return nil }
      let due = Duration.seconds(1) * self.index / 30
      try await ContinuousClock().sleep(until: self.start + due)
      defer { self.index += 1 }
      return VideoFrame(try self.picture(), captureTimeNanoseconds: Int64(due / .nanoseconds(1)))
    }

    private func picture() throws -> Frame {
      var frame = try self.pool.makeFrame(self.geometry)
      for plane in 0 ..< self.geometry.format.planeCount {
        let rows = self.geometry.format.rowCount(plane: plane, height: self.geometry.size.height)
        for row in 0 ..< rows {
          frame.withMutableRow(row, plane: plane) { samples in
            for x in 0 ..< samples.byteCount {
              let value = plane == 0 ? UInt8(truncatingIfNeeded: x + row + 4 * self.index) : 128
              samples.storeBytes(of: value, toByteOffset: x, as: UInt8.self)
            }
          }
        }
      }
      return frame.finish()
    }
  }
}
