import Foundation
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The ring of a session, from its client's side: puts frames into slots, and takes pictures out of them,
/// so that the model sees what it would have seen inline.
///
/// One task puts, another takes.
final class ModelRing: Sendable {
  private struct State {
    var ring: SharedMemoryRing?
    /// Input slots that are the client's.
    var free: [Int] = []
    /// Where the frames without outcome lie, in order; `nil`: inline.
    var sent: [Int?] = []
    /// The last picture that came in an output slot and was not acknowledged.
    var unacknowledged: UInt64?
    var inputs: UInt64 = 0
    var outputs: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Frames that were put into slots, and pictures that came in slots of the server's choice.
  var counts: (inputs: UInt64, outputs: UInt64) {
    self.state.withLock { ($0.inputs, $0.outputs) }
  }

  /// Fetches the ring that the server offers. Blocks until it is handed over.
  private func fetch(_ opened: Sidelight_V1_Opened) throws {
    guard opened.hasSharedMemory else { return }
    let offer = opened.sharedMemory
    let answer = try DescriptorSocket.fetch(
      offer.hello(of: opened.sessionID), at: offer.socketPath)
    // A short session may be over before its client comes to fetch the ring.
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

  /// A message is about to be sent: if it is a frame, it goes into a slot, if there is one.
  ///
  /// - Parameter isSound: Whether its image is what it says.
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

  /// A message came: if its pixels are in a slot, they are read, and the slot of a frame that has its
  /// outcome is the client's again.
  ///
  /// - Throws: `SessionModel.Violation` for a slot in which no picture can be.
  func take(_ message: Sidelight_V1_ServerMessage) throws -> Sidelight_V1_ServerMessage {
    switch message.kind {
    case .opened(let opened)?:
      try self.fetch(opened)
      return message
    case .frame(var frame)?:
      // The sender of the next frame may reuse a slot once it is free: not before it is read.
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

  /// The acknowledgement of pictures that were taken out of their slots; `nil` if there are none.
  func acknowledgement() -> Sidelight_V1_ClientMessage? {
    self.state.withLock { $0.unacknowledged.take() }.map { last in
      .with { $0.ack.sequence = last }
    }
  }

  /// The next frames have their outcome: the slots that they lay in are the client's.
  private func release(_ count: Int) {
    self.state.withLock { state in
      state.free += state.sent.prefix(count).compactMap(\.self)
      state.sent.removeFirst(min(count, state.sent.count))
    }
  }
}
