import NIOCore
import SidelightWire

/// The limits of one call, over HTTP/2 or a WebSocket: the messages that its client may send, the
/// batches in which they are delivered, its deadline, and the time in which its client must take
/// written bytes and close its side.
///
/// The call's handlers report to it, and act on its refusals. It must be used on the event loop of
/// the call.
final class CallLimiter {
  /// The longest deadline for which a timer is set.
  private static let maxDeadline = Duration.seconds(365 * 86400)
  /// The size from which messages count against the budget of unfinished ones.
  private static let minCountedBytes = 64 << 10
  /// The weight of a batch: a message counts 1, and 1 more per ``bytesPerWeight`` bytes. A batch
  /// ends where this is used up, at 16 messages or some 8 KiB of small ones.
  private static let batchWeight = 16
  /// The bytes of a message that count as another message.
  static let bytesPerWeight = 512
  /// The maximum bytes per write. Writing in parts distinguishes a slow peer from one that has
  /// stopped reading.
  private static let maxPartBytes = 1 << 20

  private let configuration: GuardConfiguration
  /// The maximum size of any method's messages in bytes.
  let maxMessageBytes: Int
  private let unfinished: AddressBudget
  private let ticks: EventLoopTicks
  private let address: String
  private let counters: ConnectionCounters

  private var limits: CallLimits
  private var deadline = EventLoopTimer()
  private var linger = EventLoopTimer()
  private var stall = EventLoopTimer()
  private var stallDetector: StallDetector
  private var isCheckingProgress = false
  private var written = 0
  private var taken = 0
  /// The bytes that are reserved in the budget of unfinished messages.
  private var reserved = 0
  private var isTickRequested = false
  /// Whether the counters include the call among those whose messages were held back.
  private var isHeldBack = false
  private var isOver = false

  /// The weight that may still be delivered before the next poll.
  private(set) var batchBudget = 0

  /// - Parameters:
  ///   - configuration: The limits on the peer.
  ///   - maxMessageBytes: The maximum size of a message in bytes.
  ///   - address: The peer's address.
  ///   - counters: Counts the actions of the guards.
  init(
    configuration: GuardConfiguration, maxMessageBytes: Int, unfinished: AddressBudget,
    ticks: EventLoopTicks, address: String, counters: ConnectionCounters
  ) {
    self.configuration = configuration
    self.maxMessageBytes = maxMessageBytes
    self.unfinished = unfinished
    self.ticks = ticks
    self.address = address
    self.counters = counters
    self.limits = CallLimits(path: "", maxMessageBytes, configuration)
    self.stallDetector = StallDetector(timeout: configuration.writeStallTimeout)
    self.renewBatch()
  }

  func isActive(_ guardName: Guard) -> Bool { self.configuration.active.contains(guardName) }

  /// Records an action of a guard.
  func record(_ guardName: Guard) { self.counters.record(guardName, against: self.address) }

  /// Begins the call of a method.
  ///
  /// - Parameter path: The method, as in HTTP/2's `:path`.
  func begin(path: String) {
    self.limits = CallLimits(path: path, self.maxMessageBytes, self.configuration)
  }

  /// Stops all timers, and releases the reserved bytes. The call is over.
  func end() {
    self.isOver = true
    self.deadline.cancel()
    self.linger.cancel()
    self.stall.cancel()
    self.releaseMessage()
  }

  // MARK: Deadline

  /// Starts the timer of the call's deadline.
  func startDeadline(
    in duration: Duration, on eventLoop: any EventLoop,
    refuse: @escaping (CallRefusal) -> Void
  ) {
    guard self.isActive(.deadline), duration < Self.maxDeadline, !self.isOver else { return }
    self.deadline.start(in: duration, on: eventLoop) { refuse(.deadlineExceeded(duration)) }
  }

  /// Stops the timer of the deadline: the status is written.
  func stopDeadline() { self.deadline.cancel() }

  // MARK: Messages

  /// The maximum size of a message of the method in bytes; `.max` if the guard is inactive.
  var maxBytes: Int { self.isActive(.messageSize) ? self.limits.maxBytes : .max }

  func makeScanner() -> MessageScanner {
    MessageScanner(
      maxBytes: self.maxBytes, mayBeCompressed: !self.isActive(.compression),
      shape: self.isActive(.messageFields) ? self.limits.shape : nil,
      maxFields: self.configuration.maxMessageFields)
  }

  /// Returns the refusal of a message that a scanner doesn't accept.
  func refusal(of finding: MessageScanner.Finding) -> CallRefusal { .finding(finding, self.limits) }

  /// Checks the fields of a complete message.
  ///
  /// - Returns: The reason to end the call; `nil` if the message is accepted.
  func refusal(of message: ByteBuffer) -> CallRefusal? {
    guard self.isActive(.messageFields), let shape = self.limits.shape else { return nil }
    do throws(ProtobufBounds.Violation) {
      try ProtobufBounds.check(
        message.readableBytesUInt8Span, as: shape, maxFields: self.configuration.maxMessageFields)
      return nil
    } catch {
      return self.refusal(of: .tooComplex(error))
    }
  }

  /// Reserves the bytes of a message, and releases the bytes of the previous message.
  ///
  /// - Returns: The reason to end the call; `nil` if the budget had enough.
  func reserve(_ messageBytes: Int) -> CallRefusal? {
    let needed = messageBytes >= Self.minCountedBytes ? messageBytes : 0
    guard self.isActive(.unfinishedMessages), needed != self.reserved else { return nil }
    guard !self.isOver || needed == 0 else { return nil }
    if self.reserved > 0 { self.unfinished.release(self.reserved, for: self.address) }
    self.reserved = 0
    guard needed > 0 else { return nil }
    guard self.unfinished.reserve(needed, for: self.address) else {
      return .noCapacity(for: messageBytes, self.configuration)
    }
    self.reserved = needed
    return nil
  }

  /// Releases the bytes of the last message.
  func releaseMessage() { _ = self.reserve(0) }

  // MARK: Batches

  /// Whether messages are delivered in batches, one per poll of the event loop
  /// (``Guard/messageBatches``). A single DATA frame can hold a hundred thousand messages of a few
  /// bytes; without batches all of them would be decoded and handled before the loop polls its
  /// sockets again, and every other connection of that loop would wait.
  var deliversBatches: Bool { self.isActive(.messageBatches) }

  /// Takes a weight from the batch.
  func spend(_ weight: Int) { self.batchBudget -= weight }

  /// Begins the next batch.
  func renewBatch() { self.batchBudget = self.deliversBatches ? Self.batchWeight : .max }

  /// Begins the next batch after the next poll. A second call before that has no effect.
  ///
  /// - Parameter deliver: Delivers the batch.
  func awaitBatch(on eventLoop: any EventLoop, _ deliver: @escaping () -> Void) {
    guard !self.isTickRequested else { return }
    self.isTickRequested = true
    if !self.isHeldBack {
      self.isHeldBack = true
      self.record(.messageBatches)
    }
    self.ticks.tick(of: eventLoop).afterPoll {
      self.isTickRequested = false
      self.renewBatch()
      deliver()
    }
  }

  // MARK: Written bytes

  /// Whether the peer has not taken everything that was written.
  private var isWaiting: Bool { self.taken != self.written }

  /// Divides bytes that are about to be written into parts, and observes when the peer takes each.
  ///
  /// - Parameters:
  ///   - promise: Fulfilled when all bytes are taken.
  ///   - write: Writes a part.
  func write(
    _ bytes: ByteBuffer, promise: EventLoopPromise<Void>?, on eventLoop: any EventLoop,
    _ write: (_ part: ByteBuffer, _ isLast: Bool, _ promise: EventLoopPromise<Void>) -> Void
  ) {
    var rest = bytes
    if !self.isWaiting { self.stallDetector.begin(at: .now()) }
    self.written += bytes.readableBytes
    repeat {
      let count = min(rest.readableBytes, Self.maxPartBytes)
      let part = rest.readSlice(length: count) ?? ByteBuffer()
      let isLast = rest.readableBytes == 0
      let done = (isLast ? promise : nil) ?? eventLoop.makePromise()
      done.futureResult.assumeIsolated().whenComplete { _ in self.taken += count }
      write(part, isLast, done)
    } while rest.readableBytes > 0
  }

  /// Starts the timer that detects a peer that stops reading (``Guard/callStall``), unless the peer
  /// has taken everything.
  ///
  /// - Parameter close: Closes the call.
  func checkProgress(on eventLoop: any EventLoop, close: @escaping () -> Void) {
    guard self.isWaiting, !self.isCheckingProgress, self.isActive(.callStall), !self.isOver else {
      return
    }
    self.isCheckingProgress = true
    self.stall.start(in: self.stallDetector.interval, on: eventLoop) {
      self.isCheckingProgress = false
      if self.isWaiting, self.stallDetector.isStalled(taken: self.taken, at: .now()) {
        close()
      } else {
        self.checkProgress(on: eventLoop, close: close)
      }
    }
  }

  // MARK: The peer's side

  /// Closes the call when the peer has had time to close its side (``Guard/linger``). At once the
  /// close could reach the client before it has read the status, and replace it.
  ///
  /// - Parameter close: Closes the call.
  func awaitEnd(on eventLoop: any EventLoop, close: @escaping () -> Void) {
    guard self.isActive(.linger), !self.isOver else { return }
    self.linger.start(in: self.configuration.lingerTimeout, on: eventLoop) {
      // `checkProgress` handles a peer that still takes bytes from before the status.
      guard !self.isWaiting || !self.isActive(.callStall) else {
        return self.awaitEnd(on: eventLoop, close: close)
      }
      self.record(.linger)
      close()
    }
  }

  /// Stops the timer of ``awaitEnd(on:close:)``: the peer has closed its side.
  func peerHasEnded() { self.linger.cancel() }
}

/// The limits on the messages of a method.
struct CallLimits: Sendable {
  /// The maximum size of a message in bytes.
  var maxBytes: Int
  /// The configuration's name of that limit.
  var name: String
  /// The shape of a message; `nil` for an unknown method.
  var shape: MessageShape?

  /// The methods whose requests carry pixels. The messages of all others are small.
  private static let pixelMethods: Set = [
    "/sidelight.v1.FrameFilter/Process", "/sidelight.v1.FrameFilter/Apply",
  ]

  /// - Parameters:
  ///   - path: The method, as in HTTP/2's `:path`.
  ///   - maxMessageBytes: The maximum size of a message with pixels in bytes.
  ///   - configuration: The limits on other messages.
  init(path: String, _ maxMessageBytes: Int, _ configuration: GuardConfiguration) {
    let maxControlMessageBytes = configuration.maxControlMessageBytes
    if Self.pixelMethods.contains(path) || maxMessageBytes <= maxControlMessageBytes {
      (self.maxBytes, self.name) = (maxMessageBytes, "max_message_bytes")
    } else {
      (self.maxBytes, self.name) = (maxControlMessageBytes, "max_control_message_bytes")
    }
    self.shape = MessageShapes.contract.input(ofMethodAt: path)
  }
}

/// The deadline of a call, from the header `grpc-timeout`.
package enum CallDeadline {
  /// Reads a header's value: one to eight digits and a unit, as in gRPC's protocol over HTTP/2.
  ///
  /// - Returns: `nil` for anything else, which disables the deadline.
  package static func duration(header value: String) -> Duration? {
    let digits = value.utf8.dropLast()
    guard (1 ... 8).contains(digits.count), digits.allSatisfy({ (0x30 ... 0x39).contains($0) }),
      let amount = Int64(value.dropLast())
    else { return nil }
    switch value.utf8.last {
    case UInt8(ascii: "H"): return .seconds(amount * 3600)
    case UInt8(ascii: "M"): return .seconds(amount * 60)
    case UInt8(ascii: "S"): return .seconds(amount)
    case UInt8(ascii: "m"): return .milliseconds(amount)
    case UInt8(ascii: "u"): return .microseconds(amount)
    case UInt8(ascii: "n"): return .nanoseconds(amount)
    default: return nil
    }
  }
}
