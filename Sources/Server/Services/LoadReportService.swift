import GRPCCore
import GRPCProtobuf
import ServiceLifecycle
import SidelightWire
import SwiftProtobuf

/// `xds.service.orca.v3.OpenRcaService`, for proxies and servers that balance by load (ORCA).
struct LoadReportService: Xds_Service_Orca_V3_OpenRcaService.SimpleServiceProtocol {
  /// The time between two reports; callers need no credentials.
  static let intervals = Duration.milliseconds(250) ... .seconds(3600)

  let engine: Engine
  /// The last load and its time, for all callers.
  private let last = LockedValue<(load: Double, time: Duration)?>(nil)

  /// The load, computed again after the shortest interval: any number of callers may ask.
  private var load: Double {
    let now = self.engine.clock.now()
    if let last = self.last.value, now - last.time < Self.intervals.lowerBound { return last.load }
    let load = self.engine.reportedLoad
    self.last.value = (load, now)
    return load
  }

  /// Sends the load at once and after each interval: the nearest to the requested one of
  /// ``intervals``, 1 s by default. Ends with UNAVAILABLE when the server shuts down.
  func streamCoreMetrics(
    request: Xds_Service_Orca_V3_OrcaLoadReportRequest,
    response: RPCWriter<Xds_Data_Orca_V3_OrcaLoadReport>, context: ServerContext
  ) async throws {
    let requested = request.reportInterval
    let duration =
      request.hasReportInterval
      ? .seconds(requested.seconds) + .nanoseconds(Int64(requested.nanos)) : Duration.seconds(1)
    let interval = min(max(duration, Self.intervals.lowerBound), Self.intervals.upperBound)
    try await context.untilCancelled {
      while !Task.isCancelled {
        try await response.write(
          .with {
            $0.applicationUtilization = self.load
            // Receivers divide it by the load to get a weight, Envoy a whole number. Sessions per
            // second would give more sessions to servers that get many.
            $0.rpsFractional = 1000
            $0.namedMetrics = [
              Placement.Peer.sessionsMetric: Double(self.engine.admission.sessions.count)
            ]
          })
        await self.engine.clock.wait(interval)
      }
    }
    if Task.isShuttingDownGracefully { throw GoogleRPCStatus.shuttingDown }
  }
}
