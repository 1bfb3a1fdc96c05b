import AsyncAlgorithms
import Synchronization

extension FilterSession {
  /// Sends the frames of a source and returns the frames that come back, in order.
  ///
  /// ```swift
  /// try await client.withSession(SessionOptions(pipeline: [.sepiaTone()])) { session in
  ///   for try await frame in session.filter(camera) { show(frame.picture) }
  /// }
  /// ```
  ///
  /// The loop receives every frame that is not dropped: filtered, degraded or passed through, as
  /// ``FilteredFrame/disposition`` says. It skips dropped frames, with their fallback pictures;
  /// read ``outcomes`` instead to receive them.
  ///
  /// Sending begins with the first call of `next()` and follows the session's policy as
  /// ``send(contentsOf:)`` does: with `DropPolicy.newestWins` frames that arrive too fast are
  /// dropped; with the other policies the source is read at the pace of the loop. When the source
  /// ends, the session is finished, and the loop ends after the last outcome.
  ///
  /// Leaving the loop or cancelling its task ends the sending and the iteration of the source. The
  /// session then stays open until the closure of ``SidelightClient/withSession(_:_:)`` returns.
  ///
  /// The returned sequence, ``outcomes`` and ``events`` are one stream, for one iterator.
  ///
  /// - Parameter frames: The source: a camera, a decoder, a file. Another task iterates it.
  /// - Throws: From the loop: the error of the source, after the frames that were sent before it;
  ///   `RPCError` if the session ended with an error; `CancellationError` if the task is cancelled;
  ///   ``SessionAlreadyIteratedError`` for a second iterator.
  public func filter<Source: AsyncSequence & Sendable>(
    _ frames: Source
  ) -> FilteredFrames<Source> where Source.Element == VideoFrame {
    FilteredFrames(session: self, source: frames)
  }

  /// The events of the session, in order, for one iterator in one task.
  ///
  /// Ends when the session ends without error. Otherwise throws `RPCError`, after the outcome of
  /// every accepted frame; `CancellationError` if the task is cancelled;
  /// ``SessionAlreadyIteratedError`` for a second iterator.
  public var events: some AsyncSequence<SessionEvent, any Error> & Sendable {
    SessionEvents(flow: self.flow)
  }

  /// The outcomes of the frames, in order: the same stream as ``events``, without the other events,
  /// for one iterator.
  public var outcomes: some AsyncSequence<FrameOutcome, any Error> & Sendable {
    self.events.compactMap { if case .outcome(let outcome) = $0 { outcome } else { nil } }
  }
}

/// The error of a second iterator over the events of a session.
///
/// ``FilterSession/events``, ``FilterSession/outcomes`` and ``FilterSession/filter(_:)`` are one
/// stream: an event that one iterator takes does not reach another. The first call of `next()`
/// claims the stream for its iterator; `next()` of any other iterator throws this error, without
/// taking an event or sending a frame.
public struct SessionAlreadyIteratedError: Error, Hashable, CustomStringConvertible {
  init() {}

  /// The error in words.
  public var description: String {
    "The session's events, outcomes and filtered frames are one stream, which another iterator reads; "
      + "keep that iterator, or open a second session."
  }
}

/// The events of a session. The first iterator claims them.
private struct SessionEvents: AsyncSequence, Sendable {
  typealias Element = SessionEvent
  typealias Failure = any Error

  let flow: SessionFlow
  /// Whether the events are claimed already, for the only iterator of this value.
  var isClaimed = false

  struct Iterator: AsyncIteratorProtocol {
    let flow: SessionFlow
    var isClaimed: Bool

    mutating func next() async throws -> SessionEvent? {
      if !self.isClaimed {
        try self.flow.claimEvents()
        self.isClaimed = true
      }
      return try await self.flow.nextEvent()
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(flow: self.flow, isClaimed: self.isClaimed) }
}

/// The frames of a source that come back from a session; see ``FilterSession/filter(_:)``.
public struct FilteredFrames<Source: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Source.Element == VideoFrame {
  /// A frame that came back.
  public typealias Element = FilteredFrame
  /// The errors that ``FilterSession/filter(_:)`` lists.
  public typealias Failure = any Error

  fileprivate let session: FilterSession
  fileprivate let source: Source

  /// An iterator that sends the frames of the source while it is iterated.
  public struct Iterator: AsyncIteratorProtocol {
    private enum State {
      case idle
      case running(AsyncMerge2Sequence<OutcomeSteps, SourceSteps<Source>>.Iterator)
      case finished
    }

    private let session: FilterSession
    private let source: SourceSteps<Source>
    private var state = State.idle

    fileprivate init(session: FilterSession, source: Source) {
      self.session = session
      self.source = SourceSteps(session: session, source: source)
    }

    /// Returns the next frame that comes back, or `nil` at the end.
    public mutating func next() async throws -> FilteredFrame? {
      if case .idle = self.state {
        // Before the first frame is sent: it would belong to the stream of another iterator.
        try self.session.flow.claimEvents()
        self.state = .running(
          merge(self.session.flow.outcomeSteps, self.source).makeAsyncIterator())
      }
      guard case .running(var steps) = self.state else { return nil }
      do {
        while let step = try await steps.next(isolation: #isolation) {
          switch step {
          case .outcome(.filtered(let frame)):
            self.state = .running(steps)
            return frame
          case .outcome(.dropped): continue
          case .ended:
            self.state = .finished
            if let error = self.source.failure.error { throw error }
            return nil
          }
        }
      } catch {
        self.state = .finished
        throw error
      }
      // The merged sequence ends without `.ended` if the task is cancelled.
      self.state = .finished
      throw CancellationError()
    }
  }

  /// Creates an iterator.
  public func makeAsyncIterator() -> Iterator {
    Iterator(session: self.session, source: self.source)
  }
}

/// An element of the merged sequences of ``FilteredFrames``.
private enum FilterStep: Sendable {
  case outcome(FrameOutcome)
  /// The session is over.
  case ended
}

/// The outcomes of a session, then ``FilterStep/ended``.
private typealias OutcomeSteps = AsyncChain2Sequence<
  AsyncCompactMapSequence<SessionEvents, FilterStep>, AsyncSyncSequence<CollectionOfOne<FilterStep>>
>

extension SessionFlow {
  /// The outcomes of the session, whose events are claimed, then ``FilterStep/ended``.
  fileprivate var outcomeSteps: OutcomeSteps {
    let outcomes = SessionEvents(flow: self, isClaimed: true).compactMap { event -> FilterStep? in
      if case .outcome(let outcome) = event { .outcome(outcome) } else { nil }
    }
    return chain(outcomes, CollectionOfOne(FilterStep.ended).async)
  }
}

/// A sequence without elements that sends the frames of a source while it is iterated, and then
/// finishes the session.
private struct SourceSteps<Source: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Source.Element == VideoFrame {
  typealias Element = FilterStep
  typealias Failure = Never

  let session: FilterSession
  let source: Source
  /// The error of the source. Set before the session is finished, to be known when the outcomes
  /// end.
  let failure = SourceFailure()

  struct Iterator: AsyncIteratorProtocol {
    let steps: SourceSteps

    mutating func next() async -> FilterStep? {
      await self.steps.send()
      return nil
    }
  }

  func makeAsyncIterator() -> Iterator { Iterator(steps: self) }

  private func send() async {
    do {
      for try await frame in self.source {
        guard await self.session.send(frame) != nil else { return }
      }
    } catch {
      self.failure.error = error
    }
    // A cancelled source ends early; that is not the end of the frames.
    guard !Task.isCancelled else { return }
    self.session.finish()
  }
}

/// The error of a source, if it failed.
private final class SourceFailure: Sendable {
  private let state = Mutex<(any Error)?>(nil)

  var error: (any Error)? {
    get { self.state.withLock { $0 } }
    set { self.state.withLock { $0 = newValue } }
  }
}
