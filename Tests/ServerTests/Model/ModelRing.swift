import Foundation
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The client's side of a session's ring: writes frames into slots and reads pictures from them.
/// The model receives the same messages as inline.
///
/// One task writes, another reads.
final class ModelRing: Sendable {
  private struct State {
    var ring: SharedMemoryRing?
    /// The input slots that belong to the client.
    var free: [Int] = []
    /// The slots of the frames without outcome, in order; `nil` for inline frames.
    var sent: [Int?] = []
    /// The last unacknowledged picture in an output slot.
    var unacknowledged: UInt64?
    var inputs: UInt64 = 0
    var outputs: UInt64 = 0
  }

  private let state = Mutex(State())

  /// The number of frames that were sent in slots, and of pictures received in output slots.
  var counts: (inputs: UInt64, outputs: UInt64) {
    self.state.withLock { ($0.inputs, $0.outputs) }
  }

  /// Fetches the ring that the server offers. Blocks until it is received.
  private func fetch(_ opened: Sidelight_V1_Opened) throws {
    guard opened.hasSharedMemory else { return }
    let offer = opened.sharedMemory
    let answer = try DescriptorSocket.fetch(
      offer.hello(of: opened.sessionID), at: offer.socketPath)
    // A short session may end before its client has fetched the ring.
    if answer.answer == .refused { return }
    guard let memory = answer.memory else {
      throw SessionModel.Violation(description: "the ring was not handed over: \(answer)")
    }
    let ring = try SharedMemoryRing(mapping: memory, try RingLayout(offer))
    self.state.withLock { state in
      state.ring = ring
      state.free = Array(ring.layout.indices(of: .input))
    }
  }

  /// Moves the pixels of a frame that is about to be sent into a slot, if one is free.
  ///
  /// - Parameter isSound: Whether its image matches its description.
  func put(_ message: Sidelight_V1_ClientMessage, isSound: Bool) -> Sidelight_V1_ClientMessage {
    guard case .frame(var frame)? = message.kind else { return message }
    let pixels = [UInt8](frame.image.inline)
    let slot: Int? = self.state.withLock { state in
      var slot: Int?
      if isSound, let ring = state.ring, (1 ... ring.layout.slotBytes).contains(pixels.count),
        let free = state.free.popLast()
      {
        ring.buffer(slot: free, byteCount: pixels.count)
          .copy(PixelBuffer(copying: pixels))
        state.inputs += 1
        slot = free
      }
      state.sent.append(slot)
      return slot
    }
    guard let slot else { return message }
    frame.image.sharedMemory = .with {
      $0.slot = UInt32(slot)
      $0.length = UInt64(pixels.count)
    }
    return .with { $0.frame = frame }
  }

  /// Reads the pixels of a received message from their slot, and takes back the slots of frames
  /// that have their outcome.
  ///
  /// - Throws: `SessionModel.Violation` for an invalid slot.
  func take(_ message: Sidelight_V1_ServerMessage) throws -> Sidelight_V1_ServerMessage {
    switch message.kind {
    case .opened(let opened)?:
      try self.fetch(opened)
      return message
    case .frame(var frame)?:
      // The sender may reuse a slot as soon as it is free, so the slot is read first.
      defer { self.release(1) }
      guard case .sharedMemory(let reference)? = frame.image.pixels else { return message }
      let pixels = try self.state.withLock { state in
        guard let ring = state.ring else {
          throw SessionModel.Violation(description: "a picture in a slot, and there is no ring")
        }
        let (slot, byteCount) = try ring.layout.check(reference, .input, .output)
        let own = state.sent.first.flatMap(\.self)
        if ring.layout.indices(of: .output).contains(slot) {
          state.outputs += 1
          state.unacknowledged = frame.sequence
        } else if slot != own {
          throw SessionModel.Violation(
            description: "frame \(frame.sequence) came back in slot \(slot), it lay in "
              + "\(own.map(String.init) ?? "none")")
        }
        return ring.buffer(slot: slot, byteCount: byteCount).bytesForTest
      }
      frame.image.inline = Data(pixels)
      return .with { $0.frame = frame }
    case .dropped(let run)?:
      self.release(Int(run.count))
      return message
    default: return message
    }
  }

  /// The acknowledgement of the pictures that were read from their slots; `nil` without such
  /// pictures.
  func acknowledgement() -> Sidelight_V1_ClientMessage? {
    self.state.withLock { $0.unacknowledged.take() }.map { last in
      .with { $0.ack.sequence = last }
    }
  }

  /// Takes back the slots of the next frames, which have their outcome.
  private func release(_ count: Int) {
    self.state.withLock { state in
      state.free += state.sent.prefix(count).compactMap(\.self)
      state.sent.removeFirst(min(count, state.sent.count))
    }
  }
}
