import SidelightWire

/// `sidelight.v1.FrameFilter`. Each method is a file beside this one.
struct FrameFilterService: Sidelight_V1_FrameFilter.ServiceProtocol {
  let engine: Engine
  let configuration: ServerConfiguration
}
