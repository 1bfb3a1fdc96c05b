import Foundation
import GRPCCore
import SidelightKernels
import SidelightTransport
import SidelightWire
import SwiftProtobuf
import Synchronization

/// The client's side of a shared-memory ring, which a server creates for one connection of a
/// session.
///
/// Pictures in its slots can outlive the connection: the memory stays mapped until the last picture
/// is released.
final class ClientRing: Sendable {
  private let ring: SharedMemoryRing
  private let slots: Mutex<ClientSlots>

  /// The attempts to fetch a ring from a busy server, which take a second on average.
  private static let maxAttempts = 20
  /// The longest pause between two attempts, in seconds.
  private static let maxPause = 0.1

  /// - Parameter hasWindow: Whether pictures are acknowledged when their outcomes are taken.
  init(_ ring: SharedMemoryRing, hasWindow: Bool) {
    self.ring = ring
    self.slots = Mutex(
      ClientSlots(inputSlots: ring.layout.inputSlots, hasWindow: hasWindow))
  }

  /// Fetches the ring that a server offers, on a separate thread, because it blocks.
  ///
  /// - Returns: The ring, or `nil` if it is not available. Pixels then travel inline.
  static func fetch(
    _ offer: Sidelight_V1_SharedMemoryOffer, sessionID: String, hasWindow: Bool
  ) async -> ClientRing? {
    guard offer.token.count == DescriptorHello.tokenBytes,
      sessionID.utf8.count <= Int(UInt8.max), let layout = try? RingLayout(offer)
    else { return nil }
    let hello = DescriptorHello(token: [UInt8](offer.token), sessionID: sessionID)
    return await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let memory = Self.fetchMemory(hello, at: offer.socketPath)
        let ring = memory.flatMap { try? SharedMemoryRing(mapping: $0, layout) }
        continuation.resume(returning: ring.map { ClientRing($0, hasWindow: hasWindow) })
      }
    }
  }

  /// Requests the memory of a ring, and retries while the server answers many other sessions.
  private static func fetchMemory(_ hello: DescriptorHello, at path: String) -> OwnedDescriptor? {
    for _ in 0 ..< Self.maxAttempts {
      guard let answer = try? DescriptorSocket.fetch(hello, at: path) else { return nil }
      guard answer.answer == .busy else { return answer.memory }
      Thread.sleep(forTimeInterval: .random(in: 0 ... Self.maxPause))
    }
    return nil
  }

  /// Whether a picture lies in one of the slots.
  func holds(_ picture: Frame) -> Bool { self.ring.slot(of: picture.buffer) != nil }

  // MARK: To the server

  /// Returns a frame in a free slot for the server to read, or `nil` if all slots are in use or the
  /// frame is too large.
  func makeFrame(_ geometry: FrameGeometry, orientation: Orientation) -> MutableFrame? {
    guard let layout = self.layout(for: geometry),
      let slot = self.slots.withLock({ $0.lend() })
    else { return nil }
    let buffer = self.ring.buffer(slot: slot, byteCount: layout.byteCount) {
      self.slots.withLock { $0.release(input: slot) }
    }
    return MutableFrame(
      layout: layout, color: geometry.color, orientation: orientation, buffer: buffer)
  }

  /// Names the slot of a picture in the message of a frame. Copies the picture into a slot first,
  /// unless it is in one.
  ///
  /// - Returns: The image of the message, or `nil` if the pixels must travel inline.
  func place(_ picture: Frame, for sequence: UInt64) -> Sidelight_V1_Image? {
    if let slot = self.ring.slot(of: picture.buffer),
      self.ring.layout.indices(of: .input).contains(slot),
      self.slots.withLock({ $0.send(input: slot, as: sequence) })
    {
      return self.image(of: picture, in: slot)
    }
    guard var frame = self.makeFrame(picture.geometry, orientation: picture.orientation) else {
      return nil
    }
    frame.copy(picture)
    let copy = frame.finish()
    guard let slot = self.ring.slot(of: copy.buffer),
      self.slots.withLock({ $0.send(input: slot, as: sequence) })
    else { return nil }
    return self.image(of: copy, in: slot)
  }

  /// Records that frames have their outcomes. Their slots belong to the client again.
  func release(inputsOf sequences: ClosedRange<UInt64>) {
    self.slots.withLock { $0.release(inputsOf: sequences) }
  }

  /// Returns the layout with aligned strides, which filters prefer, if a slot is large enough; else
  /// the packed layout, or `nil` if that is too large as well.
  private func layout(for geometry: FrameGeometry) -> FrameLayout? {
    [
      try? FrameLayout(aligned: geometry.format, size: geometry.size),
      try? FrameLayout(packed: geometry.format, size: geometry.size),
    ].compactMap(\.self).first { $0.byteCount <= self.ring.layout.slotBytes }
  }

  private func image(of picture: Frame, in slot: Int) -> Sidelight_V1_Image {
    .with {
      $0.describe(input: picture.geometry, orientation: picture.orientation)
      $0.planes = picture.layout.planes.map { plane in
        .with {
          $0.offset = UInt32(plane.offset)
          $0.stride = UInt32(plane.stride)
        }
      }
      $0.sharedMemory.slot = UInt32(slot)
      $0.sharedMemory.length = UInt64(picture.layout.byteCount)
    }
  }

  // MARK: From the server

  /// Returns the picture in a slot. The slot is held while the picture is referenced; a file is
  /// copied out.
  ///
  /// - Throws: `RPCError` for a slot that the server may not name.
  func picture(
    of image: Sidelight_V1_Image, for sequence: UInt64, sent: VideoPicture
  ) throws -> VideoPicture {
    do throws(FieldViolation) {
      let (slot, byteCount) = try self.ring.layout.check(image.sharedMemory, .input, .output)
      // A picture in an input slot is the frame that was sent.
      guard self.ring.layout.indices(of: .output).contains(slot) else { return sent }
      self.slots.withLock { $0.receive(output: slot, of: sequence) }
      let buffer = self.ring.buffer(slot: slot, byteCount: byteCount) {
        self.slots.withLock { $0.release(output: slot, of: sequence) }
      }
      return try VideoPicture(image, over: buffer)
    } catch {
      throw RPCError(
        code: .internalError,
        message: "The server sent an invalid image: \(error.field) \(error.reason)")
    }
  }

  /// Returns the acknowledgement that the server needs before it writes another picture, or `nil`
  /// if the server has it already.
  func takeAcknowledgement() -> Sidelight_V1_Ack? {
    self.slots.withLock { $0.takeAcknowledgement() }.map(Sidelight_V1_Ack.init)
  }

  /// Returns an acknowledgement of a picture and all before it, except pictures that are still
  /// referenced.
  func acknowledgement(of sequence: UInt64) -> Sidelight_V1_Ack {
    Sidelight_V1_Ack(self.slots.withLock { $0.acknowledge(sequence) })
  }
}

extension Sidelight_V1_Ack {
  fileprivate init(_ acknowledgement: ClientSlots.Acknowledgement) {
    self.init()
    self.sequence = acknowledgement.sequence
    self.heldSlots = acknowledgement.held.map { UInt32($0) }
  }
}

/// The shared memory requested by a session from a server on the same host.
public struct SharedMemoryOptions: Sendable, Hashable {
  /// - `slotBytes` (bytes, range: 1 B-1 GiB, default: 8 MiB, enough for 1080p BGRA): the largest
  ///   picture that travels in shared memory; larger ones travel inline.
  public var slotBytes: Int
  /// - `inputSlots` (count, range: 1-64, default: 6): pictures that may be in flight to the server,
  ///   or in use by the program (``FilterSession/makeFrame(_:orientation:)``); others travel
  ///   inline.
  public var inputSlots: Int
  /// - `outputSlots` (count, range: 1-64, default: 6): pictures that may be in flight from the
  ///   server, or in use by the program; others travel inline.
  public var outputSlots: Int

  /// Creates options. The server may refuse the request: see ``FilterSession/usesSharedMemory``.
  public init(slotBytes: Int = 8 << 20, inputSlots: Int = 6, outputSlots: Int = 6) {
    self.slotBytes = slotBytes
    self.inputSlots = inputSlots
    self.outputSlots = outputSlots
  }
}

extension Sidelight_V1_SharedMemoryRequest {
  init(_ options: SharedMemoryOptions) {
    self.init()
    self.slotBytes = UInt64(clamping: options.slotBytes)
    self.inputSlots = UInt32(clamping: options.inputSlots)
    self.outputSlots = UInt32(clamping: options.outputSlots)
  }
}

extension Address {
  /// Whether the address names this host: a Unix socket, `localhost`, or a loopback address.
  var isLocal: Bool {
    switch self {
    case .unix: true
    case .tcp(let host, _): host == "localhost" || host == "::1" || host.hasPrefix("127.")
    }
  }
}

/// The owners of a ring's slots, as the client sees them. A pure state machine.
///
/// An input slot is free when neither a frame in flight nor a picture of the client uses it. An
/// output slot belongs to the client from the outcome that names it, and is held while a picture of
/// the client uses it.
package struct ClientSlots: Sendable {
  private struct Input {
    /// Whether a picture of the client uses the slot.
    var isLent = false
    /// The frame in flight that names the slot.
    var sequence: UInt64?
  }

  private var inputs: [Input]
  /// The slots whose pictures are still referenced, with their frames.
  private var outputs: [Int: UInt64] = [:]
  private let hasWindow: Bool
  /// The newest picture that may be acknowledged.
  private var newest: UInt64 = 0
  /// Whether a slot was released since the last acknowledgement.
  private var hasAcknowledgement = false

  /// - Parameter hasWindow: Whether pictures are acknowledged when their outcomes are taken;
  ///   otherwise they are acknowledged on arrival.
  package init(inputSlots: Int, hasWindow: Bool) {
    self.inputs = Array(repeating: Input(), count: inputSlots)
    self.hasWindow = hasWindow
  }

  // MARK: Input slots

  /// Lends a slot for a picture until ``release(input:)``: the first free one, to use few slots.
  /// Returns `nil` if all are in use.
  package mutating func lend() -> Int? {
    guard let index = self.inputs.firstIndex(where: { !$0.isLent && $0.sequence == nil }) else {
      return nil
    }
    self.inputs[index].isLent = true
    return index
  }

  /// Records that pictures of the client don't use the slot any more.
  package mutating func release(input index: Int) {
    self.inputs[index].isLent = false
  }

  /// Records that a frame is about to name the slot.
  ///
  /// - Returns: Whether it may; `false` if a frame in flight names the slot.
  package mutating func send(input index: Int, as sequence: UInt64) -> Bool {
    guard self.inputs[index].sequence == nil else { return false }
    self.inputs[index].sequence = sequence
    return true
  }

  /// Records that frames have their outcomes. Their slots belong to the client again.
  package mutating func release(inputsOf sequences: ClosedRange<UInt64>) {
    for index in self.inputs.indices {
      if let sequence = self.inputs[index].sequence, sequences.contains(sequence) {
        self.inputs[index].sequence = nil
      }
    }
  }

  // MARK: Output slots

  /// Records that a picture arrived in an output slot.
  package mutating func receive(output slot: Int, of sequence: UInt64) {
    self.outputs[slot] = sequence
    if !self.hasWindow { self.newest = max(self.newest, sequence) }
  }

  /// Records that the picture is not referenced any more.
  package mutating func release(output slot: Int, of sequence: UInt64) {
    guard self.outputs[slot] == sequence else { return }
    self.outputs[slot] = nil
    self.hasAcknowledgement = true
  }

  /// An acknowledgement of a picture and all before it, except the slots that are still held.
  package struct Acknowledgement: Sendable, Hashable {
    package var sequence: UInt64
    /// The slots that are still held, in ascending order.
    package var held: [Int]

    package init(sequence: UInt64, held: [Int]) {
      self.sequence = sequence
      self.held = held
    }
  }

  /// Returns the acknowledgement that the server needs before it writes another picture, or `nil`
  /// if the server has it already.
  package mutating func takeAcknowledgement() -> Acknowledgement? {
    self.hasAcknowledgement && self.newest > 0 ? self.acknowledge(self.newest) : nil
  }

  /// Acknowledges a picture and all before it, except pictures that are still referenced.
  package mutating func acknowledge(_ sequence: UInt64) -> Acknowledgement {
    self.newest = max(self.newest, sequence)
    self.hasAcknowledgement = false
    return Acknowledgement(
      sequence: self.newest,
      held: self.outputs.filter { $0.value <= self.newest }.keys.sorted())
  }
}
