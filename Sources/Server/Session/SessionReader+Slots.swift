import GRPCProtobuf
import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// What a reader does with shared memory.
extension SessionReader {
  /// The pixels of an image in an input slot, which is the frame's from now on.
  ///
  /// - Parameter arrival: The frame's.
  /// - Returns: `nil` if the image is in no slot, or there is no ring.
  /// - Throws: ``FieldFault`` if the client may not name that slot, or that many bytes of it.
  func takeSlot(
    of image: Sidelight_V1_Image, for arrival: UInt64
  ) throws(FieldFault) -> PixelBuffer? {
    guard case .sharedMemory(let reference)? = image.pixels, let ring = self.session.ring else {
      return nil
    }
    let pixels: PixelBuffer
    do throws(FieldFault) {
      pixels = try ring.take(reference, for: arrival)
    } catch {
      throw error.within("frame.image")
    }
    guard image.format.isFile else { return pixels }
    // A parser looks twice, and must see the same each time.
    let limit = self.engine.frameLimits.maxBytes
    guard pixels.byteCount <= limit else {
      throw FieldFault(
        field: "frame.image.shared_memory.length",
        reason: "is \(pixels.byteCount), the limit of a file is \(limit)")
    }
    return pixels
  }

  /// What a slot holds, where it does not change any more: of a file a copy, made on a compute thread.
  func contents(of slot: PixelBuffer?, _ image: Sidelight_V1_Image) async -> PixelBuffer? {
    guard let slot, image.format.isFile else { return slot }
    let pool = self.engine.pool
    return await withTaskExecutorPreference(self.engine.compute) {
      await Self.copy(slot, pool)
    }
  }

  @concurrent
  private static func copy(_ slot: PixelBuffer, _ pool: BufferPool) async -> PixelBuffer {
    slot.copy(in: pool)
  }

  /// A frame's picture for whoever looks at it after the frame's fate is told: what is in a slot is then
  /// the client's again, and is copied.
  ///
  /// - Throws: `CancellationError`.
  func pictureToKeep(of frame: IncomingFrame) async throws -> IncomingPicture {
    guard frame.isInPlace, case .frame(let picture) = frame.picture else { return frame.picture }
    return try await withTaskExecutorPreference(self.engine.compute) {
      try Task.checkCancellation()
      return .frame(picture.copy(in: self.engine.pool))
    }
  }

  /// The client has consumed pictures.
  mutating func receive(_ ack: Sidelight_V1_Ack) throws {
    guard ack.heldSlots.count <= RingLayout.maxSlots else {
      let fault = FieldFault(
        field: "ack.held_slots",
        reason: "has \(ack.heldSlots.count) entries, the limit is \(RingLayout.maxSlots)")
      self.outcomes.push(.message(.with { $0.error.status = Google_Rpc_Status(fault.status) }))
      return try self.countError(fault)
    }
    self.session.ring?.acknowledge(ack)
    self.outcomes.acknowledge(ack.sequence)
  }
}
