public import SidelightWire
import Synchronization

/// Adapts a device's encoder to its connection, and sends what it encodes.
///
/// Bit rate, size and frame rate follow the outcomes of earlier frames: they fall when frames take
/// longer on the way, before they queue, and come back when the link does. A frame for which the
/// link has no room is left out before it is encoded, so the stream needs no key frame.
///
/// ```swift
/// let sender = EncodedSender(
///   session, target: EncoderTarget(bitRate: 2_000_000, width: 1280, height: 720, frameRate: 30))
/// // One task encodes:
/// for await picture in camera {
///   guard let next = sender.next() else { continue }
///   let unit = try encoder.encode(picture, as: next.target, keyFrame: next.isKeyFrame)
///   await sender.send(VideoFrame(.encoded(EncodedFrame(.h264, unit))))
/// }
/// // Another one reads:
/// for try await event in session.events {
///   sender.record(event)
///   if case .outcome(let outcome) = event { show(outcome.picture) }
/// }
/// ```
public final class EncodedSender: Sendable {
  /// The settings for the next frame.
  public struct Next: Sendable, Hashable {
    /// The values for the encoder: at most the wished ones. A frame of another size than the one
    /// before must be a key frame.
    public var target: EncoderTarget
    /// Whether the frame must be a key frame, because the server lacks what another would depend
    /// on.
    public var isKeyFrame: Bool
  }

  private struct State {
    var rates: EncoderRateController
    var needsKeyFrame = true
  }

  private let session: FilterSession
  private let minBitRate: Int
  private let state: Mutex<State>

  /// - Parameters:
  ///   - session: The session, which sends encoded frames through this sender only.
  ///   - target: The wished values, which are the maximum.
  ///   - minBitRate: The lowest bit rate in bits per second.
  ///   - startBitRate: The first bit rate, which grows by up to a half per second.
  public init(
    _ session: FilterSession, target: EncoderTarget, minBitRate: Int = 100_000,
    startBitRate: Int = 1_000_000
  ) {
    self.session = session
    self.minBitRate = minBitRate
    self.state = Mutex(
      State(
        rates: EncoderRateController(
          target: target, minBitRate: minBitRate, startBitRate: startBitRate)))
  }

  /// The values for the encoder, at most the wished ones.
  public var current: EncoderTarget { self.state.withLock { $0.rates.current } }

  /// Changes the wished values. A bit rate above the new one falls to it.
  public func setTarget(_ target: EncoderTarget) {
    let now = self.session.clock.now()
    self.state.withLock { $0.rates.setTarget(target, at: now) }
  }

  /// Returns the settings for a frame to encode and send now, or `nil` to leave the frame out: the
  /// link has no room for it, the session has no credit, or is disconnected. Call it once per frame
  /// of the source.
  public func next() -> Next? {
    guard self.session.hasCredit else { return nil }
    let now = self.session.clock.now()
    return self.state.withLock { state in
      guard state.rates.maySend(at: now) else { return nil }
      return Next(target: state.rates.current, isKeyFrame: state.needsKeyFrame)
    }
  }

  /// Sends a frame that was encoded with the settings of ``next()``.
  ///
  /// - Parameter frame: A frame whose picture is encoded. Its
  ///   ``VideoFrame/captureTimeNanoseconds`` keeps the results at their own rate.
  /// - Returns: The frame's number, as ``FilterSession/send(_:)`` returns it.
  @discardableResult
  public func send(_ frame: VideoFrame) async -> UInt64? {
    let byteCount = frame.picture.encoded?.bytes.count ?? 0
    // An event that comes meanwhile may ask for another one.
    self.state.withLock { $0.needsKeyFrame = false }
    let now = self.session.clock.now()
    guard let sequence = await self.session.send(frame) else { return nil }
    self.state.withLock { $0.rates.sent(sequence: sequence, bytes: byteCount, at: now) }
    return sequence
  }

  /// Records an event of the session. Pass every event, as soon as it is taken.
  public func record(_ event: SessionEvent) {
    let now = self.session.clock.now()
    self.state.withLock { state in
      switch event {
      case .outcome(.filtered(let frame)):
        // The time at the server says nothing about the link.
        state.rates.acknowledged(
          through: frame.sequence, at: now, processing: frame.serverTime)
      case .outcome(.dropped(let frame)):
        if [.client, .unknown].contains(frame.stage) {
          // The server did not get it.
          state.rates.withdraw(through: frame.sequence)
          // A frame that is replaced is disposable, or a key frame follows.
          if frame.reason != .supersededBeforeSending { state.needsKeyFrame = true }
        } else {
          state.rates.discarded(through: frame.sequence, at: now)
        }
      case .keyFrameNeeded: state.needsKeyFrame = true
      case .connection:
        // Another path.
        let current = state.rates.current.bitRate
        state.rates = EncoderRateController(
          target: state.rates.target, minBitRate: self.minBitRate, startBitRate: current)
        state.needsKeyFrame = true
      default: break
      }
    }
  }
}
