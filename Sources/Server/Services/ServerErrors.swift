import GRPCCore
import GRPCProtobuf
import SidelightKernels
import SidelightWire

extension GoogleRPCStatus {
  /// The domain of the reasons in `google.rpc.ErrorInfo`.
  static let errorDomain = FieldViolation.Info.domain

  /// The server is shutting down: the client may retry here later, or with another server.
  static var shuttingDown: GoogleRPCStatus {
    GoogleRPCStatus(
      code: .unavailable, message: "The server is shutting down.",
      details:
        .errorInfo(reason: "SHUTTING_DOWN", domain: Self.errorDomain, metadata: [:]),
      .retryInfo(delay: .seconds(1)))
  }

  /// A client has sent only errors.
  ///
  /// - Parameters:
  ///   - limit: The errors in a row that a session tolerates.
  ///   - last: The error that exceeded the limit.
  static func tooManyErrors(limit: Int, last: FieldViolation) -> GoogleRPCStatus {
    let last = last.clipped
    return GoogleRPCStatus(
      code: .invalidArgument,
      message: "More than \(limit) errors in a row; the last was \(last.field): \(last.reason)",
      details:
        .errorInfo(
          reason: "TOO_MANY_FAULTS", domain: Self.errorDomain,
          metadata: ["max_consecutive_errors": "\(limit)"]),
      .badRequest(violations: [.init(field: last.field, description: last.reason)]))
  }

  // Custom filters can throw errors of any length. Clients get their texts clipped.

  /// A pass over a frame failed: INTERNAL, or INVALID_ARGUMENT if a text exceeds a limit that only
  /// drawing it shows. The details name the pass's filters and their stages.
  ///
  /// - Parameter pipeline: The pipeline that has the pass.
  static func failedPass(
    _ filters: [String], of pipeline: ResolvedPipeline, _ error: any Error
  ) -> GoogleRPCStatus {
    let limit = ContractLimits.maxErrorFilterNameBytes
    let names = filters.joined(separator: "+").clipped(toBytes: limit)
    let stages = pipeline.stageNames(of: filters).joined(separator: " ").clipped(toBytes: limit)
    var metadata = ["filters": names, "stages": stages]
    let exceeded = (error as? TextError)?.limit
    metadata["limit"] = exceeded.map { "\($0)" }
    return GoogleRPCStatus(
      code: exceeded == nil ? .internalError : .invalidArgument,
      message: "\(names) failed: \(Self.clippedText(of: error))",
      details:
        .errorInfo(
          reason: exceeded == nil ? "STAGE_FAILED" : "OUT_OF_RANGE", domain: Self.errorDomain,
          metadata: metadata))
  }

  static func failedAnalysis(
    _ analysis: PlannedAnalysis, frame sequence: UInt64, _ error: any Error
  ) -> GoogleRPCStatus {
    GoogleRPCStatus(
      code: .internalError,
      message: "\(analysis.filter) (\(analysis.stage)) failed on frame \(sequence): "
        + Self.clippedText(of: error))
  }

  /// A frame failed outside of its passes.
  static func failedFrame(_ error: any Error) -> GoogleRPCStatus {
    GoogleRPCStatus(
      code: .internalError, message: "The frame failed: \(Self.clippedText(of: error))")
  }

  private static func clippedText(of error: any Error) -> String {
    "\(error)".clipped(toBytes: ContractLimits.maxFilterErrorBytes)
  }
}

extension ResolvedPipeline {
  /// Returns the names of the active stages that have one of the filters: their ids, or their paths
  /// such as `stages[1].pipeline.stages[0]`.
  fileprivate func stageNames(of filters: [String]) -> [String] {
    Self.stageNames(of: filters, in: self.stages, path: "")
  }

  private static func stageNames(
    of filters: [String], in stages: [ResolvedStage], path: String
  ) -> [String] {
    stages.enumerated().filter(\.element.isActive).flatMap { index, stage in
      let path = "\(path)stages[\(index)]"
      switch stage.content {
      case .filter(let name, _, _): return filters.contains(name) ? [stage.id ?? path] : []
      case .stages(let inner, _):
        return Self.stageNames(of: filters, in: inner, path: "\(path).pipeline.")
      }
    }
  }
}

/// Adds details to the error of a message that cannot be decoded. gRPC throws that error itself,
/// before a service receives the message.
struct UnreadableMessageInterceptor: ServerInterceptor {
  func intercept<Input: Sendable, Output: Sendable>(
    request: StreamingServerRequest<Input>, context: ServerContext,
    next:
      @concurrent @Sendable (
        _ request: StreamingServerRequest<Input>, _ context: ServerContext
      ) async throws -> StreamingServerResponse<Output>
  ) async throws -> StreamingServerResponse<Output> {
    let response: StreamingServerResponse<Output>
    do {
      response = try await next(request, context)
    } catch let error as RPCError {
      throw Self.detailed(error, context)
    }
    switch response.accepted {
    case .failure(let error):
      return StreamingServerResponse(error: Self.detailed(error, context))
    case .success(let contents):
      return StreamingServerResponse(metadata: contents.metadata) { writer in
        do {
          return try await contents.producer(writer)
        } catch let error as RPCError {
          throw Self.detailed(error, context)
        }
      }
    }
  }

  private static func detailed(_ error: RPCError, _ context: ServerContext) -> RPCError {
    guard error.code == .invalidArgument, error.metadata.isEmpty else { return error }
    let violation = FieldViolation(
      field: "message", reason: "is not a valid message of \(context.descriptor.method)")
    return RPCError(violation)
  }
}
