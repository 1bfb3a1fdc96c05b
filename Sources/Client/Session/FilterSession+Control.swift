public import SidelightKernels

/// Changes in mid-call. Each takes its place among the frames: it applies to those that are sent after
/// it. Whether the server accepts a change, and from which frame on, ``FilterSession/events`` tell.
///
/// A change that a lost connection left unanswered is asked for again when the session goes on, unless
/// it has a condition.
extension FilterSession {
  /// Replaces the pipeline.
  ///
  /// - Parameters:
  ///   - pipeline: The new one.
  ///   - revision: The revision that must be in force; else the change is refused. `nil`: any.
  /// - Returns: The number that ``AppliedChange`` or ``RejectedChange`` carries.
  @discardableResult
  public func select(_ pipeline: Pipeline, ifRevision revision: UInt64? = nil) -> UInt64 {
    self.flow.change(.select(pipeline), ifRevision: revision)
  }

  /// Changes parameters of one stage; those that are not named stay.
  ///
  /// - Parameters:
  ///   - parameters: Values by name.
  ///   - stage: The stage's id or place ("0", "2.1").
  ///   - revision: As for ``select(_:ifRevision:)``.
  /// - Returns: As for ``select(_:ifRevision:)``.
  @discardableResult
  public func update(
    _ parameters: [String: ParameterValue], ofStage stage: String,
    ifRevision revision: UInt64? = nil
  ) -> UInt64 {
    self.update([stage: parameters], ifRevision: revision)
  }

  /// Changes parameters of several stages at once; all are changed, or none.
  ///
  /// - Parameters:
  ///   - stages: Values by name, by the stage's id or place.
  ///   - revision: As for ``select(_:ifRevision:)``.
  /// - Returns: As for ``select(_:ifRevision:)``.
  @discardableResult
  public func update(
    _ stages: [String: [String: ParameterValue]], ifRevision revision: UInt64? = nil
  ) -> UInt64 {
    self.flow.change(.update(stages), ifRevision: revision)
  }

  /// Turns stages on and off, without a rebuild; they keep their state.
  ///
  /// - Parameters:
  ///   - stages: Whether each is on, by id or place; the others stay.
  ///   - revision: As for ``select(_:ifRevision:)``.
  /// - Returns: As for ``select(_:ifRevision:)``.
  @discardableResult
  public func activate(_ stages: [String: Bool], ifRevision revision: UInt64? = nil) -> UInt64 {
    self.flow.change(.activate(stages), ifRevision: revision)
  }

  /// Ends frames unfiltered until ``resume()``. A second call changes the manner.
  ///
  /// - Parameter passThrough: Whether they come back as they came, or end as
  ///   ``DroppedFrame/Reason/paused``.
  public func pause(passThrough: Bool = false) {
    self.flow.setPause(.paused(passThrough: passThrough))
  }

  /// Ends a pause. Without one it does nothing.
  public func resume() {
    self.flow.setPause(.running)
  }

  /// Asks the server for its time. A ping overtakes a frame that waits for room in the window, but
  /// nothing that is on the wire, so the round trip tells how far behind the stream is; and the answer
  /// says that the server has read all that was sent before.
  ///
  /// - Throws: `RPCError` with UNAVAILABLE if there is no connection, or it is lost before the answer;
  ///   `CancellationError` if the task is cancelled.
  public func ping() async throws -> ClockReading {
    try await self.flow.ping()
  }
}
