import Foundation
import GRPCCore
import SidelightKernelLanguage
import SidelightKernels
import SidelightServer
import SidelightTestSupport
import SidelightWire
import SwiftProtobuf

/// Frames of a session whose pipeline changes once, with capture times.
struct TransitionClient {
  /// The first pipeline.
  var first: Pipeline
  /// The change, sent after the first frame.
  var change: Sidelight_V1_ClientMessage
  var image = Sidelight_V1_Image.noise(.i420, 37, 23)
  /// By default without limits of time, which a busy machine would exceed.
  var policy = Sidelight_V1_DropPolicy.neverDrop
  var configure: @Sendable (inout Sidelight_V1_Open) -> Void = { _ in }
  var catalogue = FilterCatalogue.builtIn
  var clock: SessionClock = .system

  /// The capture time of frame k, in nanoseconds.
  static func captureTime(_ frame: Int) -> Int64 { 5_000_000_000 + Int64(frame) * 40_000_000 }

  /// Sends a frame, the change and more frames, waiting for an outcome before the next message. The
  /// frames after the change have sequences from 10.
  ///
  /// - Parameters:
  ///   - frames: The frames after the change, by their numbers.
  ///   - before: Called before every message.
  func run(
    frames: [Sidelight_V1_ClientMessage], before: @escaping @Sendable (Int) -> Void = { _ in }
  ) async throws -> [Sidelight_V1_ServerMessage] {
    let messages: [Sidelight_V1_ClientMessage] = [.frame(1, self.image), self.change] + frames
    let (first, policy, configure) = (self.first, self.policy, self.configure)
    return try await withServer(catalogue: self.catalogue, clock: self.clock) { _, address in
      try await withStub(address) { stub in
        try await stub.converseInTurn(
          .open(first, policy: policy, configure), messages, before: before)
      }
    }
  }

  /// A frame after the change, captured at `captureTime(number)`.
  func frame(
    _ number: Int, _ configure: (inout Sidelight_V1_Frame) -> Void = { _ in }
  ) -> Sidelight_V1_ClientMessage {
    .frame(UInt64(10 + number), self.image) {
      $0.captureTimeNs = Self.captureTime(number)
      configure(&$0)
    }
  }

  /// Frames after the change.
  func frames(_ numbers: Range<Int>) -> [Sidelight_V1_ClientMessage] {
    numbers.map { self.frame($0) }
  }

  /// Returns the results of a pipeline for the same frames, without a change.
  func results(of pipeline: Pipeline, frames: [Sidelight_V1_ClientMessage]) async throws -> [Data] {
    var other = self
    other.first = pipeline
    other.change = .select(pipeline)
    return try await other.run(frames: frames).pictures
  }
}

extension [Sidelight_V1_ServerMessage] {
  /// The pixels of the frames after the change.
  var pictures: [Data] { self.frames.filter { $0.sequence >= 10 }.map(\.image.inline) }

  var ended: [Sidelight_V1_TransitionEnded] {
    self.compactMap {
      if case .transitionEnded(let ended)? = $0.kind { ended } else { nil }
    }
  }
}

extension Sidelight_V1_ClientMessage {
  /// Selects a pipeline with a transition.
  static func select(
    _ pipeline: Pipeline, _ transition: PipelineTransition, requestID: UInt64 = 7
  ) -> Self {
    var message = Self.select(pipeline, requestID: requestID)
    message.select.transition = Sidelight_V1_Transition(transition)
    return message
  }

  /// Sets a parameter of the first stage with a glide.
  static func update(
    _ parameter: String, _ value: ParameterValue, _ glide: ParameterGlide, requestID: UInt64 = 7
  ) -> Self {
    .with {
      $0.update.stages = [
        .with {
          $0.stage = "stages[0]"
          $0.parameters = [parameter: Sidelight_V1_ParameterValue(value)]
        }
      ]
      $0.update.glide = Sidelight_V1_Glide(glide)
      $0.update.requestID = requestID
    }
  }
}

/// Returns the greatest difference between the levels of a picture and the mix of two others.
///
/// - Parameter weight: The share of the second, 0 ... 1.
func greatestDifference(
  of picture: Data, fromMixOf first: Data, _ second: Data, weight: Double
) -> Double {
  precondition(picture.count == first.count && first.count == second.count)
  return zip(picture, zip(first, second)).reduce(0) { greatest, samples in
    let mix = (1 - weight) * Double(samples.1.0) + weight * Double(samples.1.1)
    return max(greatest, abs(Double(samples.0) - mix))
  }
}
