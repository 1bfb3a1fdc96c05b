public import SidelightKernels
import SidelightWire
import SwiftProtobuf

/// Changes of a running session. A change applies to the frames that are sent after it.
/// ``FilterSession/events`` reports at once whether the server accepts a change, and later the
/// first frame that was filtered using it.
///
/// A change that was not active before a connection was lost is requested again when the session
/// continues, unless it requires a revision and was not accepted.
extension FilterSession {
  /// Replaces the pipeline.
  ///
  /// - Parameters:
  ///   - pipeline: The new pipeline.
  ///   - transition: The transition to it, or `nil` for a cut.
  ///   - revision: The revision that must be active; otherwise the change is refused. `nil` accepts
  ///     any.
  /// - Returns: The number that ``AcceptedChange`` and ``AppliedChange``, or ``RejectedChange``,
  ///   carry.
  @discardableResult
  public func select(
    _ pipeline: Pipeline, transition: PipelineTransition? = nil,
    ifRevision revision: UInt64? = nil
  ) -> UInt64 {
    self.flow.change(.select(pipeline), isConditional: revision != nil) { message, requestID in
      message.select = .with {
        $0.pipeline = Sidelight_V1_Pipeline(pipeline)
        $0.requestID = requestID
        if let revision { $0.ifRevision = revision }
        if let transition { $0.transition = Sidelight_V1_Transition(transition) }
      }
    }
  }

  /// Replaces the pipeline with one as text: `sepiaTone(intensity: 0.8), vignette`. See
  /// `PipelineText` for the grammar.
  ///
  /// The server parses the text; if it refuses it, ``RejectedChange/position`` is the invalid
  /// character. If this library cannot parse the text, it counts as hiding parts of frames
  /// (``ReconnectPolicy/failOpen``), and changes of its stages that are not active when the
  /// connection is lost are not requested again.
  ///
  /// - Parameters:
  ///   - text: The new pipeline; at most 16 KiB.
  ///   - transition: The transition to it, or `nil` for a cut.
  ///   - revision: As for ``select(_:transition:ifRevision:)``.
  /// - Returns: As for ``select(_:transition:ifRevision:)``.
  @discardableResult
  public func select(
    text: String, transition: PipelineTransition? = nil, ifRevision revision: UInt64? = nil
  ) -> UInt64 {
    self.flow.change(.select(text: text), isConditional: revision != nil) { message, requestID in
      message.select = .with {
        $0.pipelineText = text
        $0.requestID = requestID
        if let revision { $0.ifRevision = revision }
        if let transition { $0.transition = Sidelight_V1_Transition(transition) }
      }
    }
  }

  /// Changes parameters of one stage; parameters that are not named keep their values.
  ///
  /// - Parameters:
  ///   - parameters: Values by name.
  ///   - stage: The stage's id or index ("0", "2.1").
  ///   - glide: Moves the parameters to their values over time; `nil` sets them at once.
  ///   - revision: As for ``select(_:transition:ifRevision:)``.
  /// - Returns: As for ``select(_:transition:ifRevision:)``.
  @discardableResult
  public func update(
    _ parameters: [String: ParameterValue], ofStage stage: String,
    glide: ParameterGlide? = nil, ifRevision revision: UInt64? = nil
  ) -> UInt64 {
    self.update([stage: parameters], glide: glide, ifRevision: revision)
  }

  /// Changes parameters of several stages; the server changes all or rejects all.
  ///
  /// - Parameters:
  ///   - stages: Values by name, by the stage's id or index.
  ///   - glide: Moves the parameters to their values over time; `nil` sets them at once.
  ///   - revision: As for ``select(_:transition:ifRevision:)``.
  /// - Returns: As for ``select(_:transition:ifRevision:)``.
  @discardableResult
  public func update(
    _ stages: [String: [String: ParameterValue]], glide: ParameterGlide? = nil,
    ifRevision revision: UInt64? = nil
  ) -> UInt64 {
    self.flow.change(.update(stages), isConditional: revision != nil) { message, requestID in
      message.update = .with {
        $0.stages = stages.map { stage, parameters in
          .with {
            $0.stage = stage
            $0.parameters = parameters.mapValues(Sidelight_V1_ParameterValue.init)
          }
        }
        $0.requestID = requestID
        if let revision { $0.ifRevision = revision }
        if let glide { $0.glide = Sidelight_V1_Glide(glide) }
      }
    }
  }

  /// Turns stages on and off without compiling the pipeline again; they keep their state.
  ///
  /// - Parameters:
  ///   - stages: Whether a stage is on, by its ID or index; the other stages are not changed.
  ///   - transition: The transition to the changed pipeline, or `nil` for a cut.
  ///   - revision: As for ``select(_:transition:ifRevision:)``.
  /// - Returns: As for ``select(_:transition:ifRevision:)``.
  @discardableResult
  public func activate(
    _ stages: [String: Bool], transition: PipelineTransition? = nil,
    ifRevision revision: UInt64? = nil
  ) -> UInt64 {
    self.flow.change(.activate(stages), isConditional: revision != nil) { message, requestID in
      message.activate = .with {
        $0.stages = stages
        $0.requestID = requestID
        if let revision { $0.ifRevision = revision }
        if let transition { $0.transition = Sidelight_V1_Transition(transition) }
      }
    }
  }

  /// Stops filtering until ``resume()``. A second call replaces `passThrough`.
  ///
  /// - Parameter passThrough: Whether frames come back unchanged; otherwise they are dropped as
  ///   `DropReason.paused`.
  public func pause(passThrough: Bool = false) {
    self.flow.setPause(.paused(passThrough: passThrough))
  }

  /// Ends a pause. Has no effect if the session is not paused.
  public func resume() {
    self.flow.setPause(.running)
  }

  /// Changes the settings of the encoder of the results. A call server passes its estimate of the
  /// receivers' rate on. A refused change is reported as ``SessionEvent/rejected(_:)``.
  ///
  /// - Parameters:
  ///   - output: The name of the output, in a session with named outputs.
  ///   - bitRate: The bit rate in bits per second, or `nil` to keep it.
  ///   - frameRate: The frame rate that the bit rate is for, or `nil` to keep it.
  ///   - size: The size of the results, or `nil` to keep it. The next frame is a key frame if it
  ///     changes.
  public func setEncoder(
    output: String = "", bitRate: Int? = nil, frameRate: Double? = nil, size: FrameSize? = nil
  ) {
    self.flow.setEncoder(of: output) { change in
      if let bitRate { change.bitRate = UInt32(clamping: bitRate) }
      if let frameRate { change.frameRate = frameRate }
      if let size {
        change.width = UInt32(clamping: size.width)
        change.height = UInt32(clamping: size.height)
      }
    }
  }

  /// Replaces the composition for later pictures. Has no effect on a session that was opened without
  /// one, except for the refusal: it is reported as ``SessionEvent/rejected(_:)``.
  public func setComposition(_ composition: CompositionOptions) {
    self.flow.setComposition(composition)
  }

  /// Requests a key frame of the results, for a viewer that joins or has lost a frame. While
  /// disconnected it has no effect: a connection begins with a key frame.
  ///
  /// - Parameter output: The name of the output; by default all.
  public func requestKeyFrame(output: String = "") {
    self.flow.requestKeyFrame(output: output)
  }

  /// Measures the round trip to the server and the offset of its clock.
  ///
  /// A ping overtakes a frame that waits for credit, but not messages that are already being
  /// transmitted, so the round trip shows the delay of the stream. The answer confirms that the
  /// server has read all earlier messages.
  ///
  /// - Throws: `RPCError` with UNAVAILABLE if the session is disconnected, or the connection is
  ///   lost before the answer; `CancellationError` if the task is cancelled.
  public func ping() async throws -> ClockReading {
    try await self.flow.ping()
  }
}
