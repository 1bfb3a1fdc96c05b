extension SidelightServer {
  /// What the server's metrics mean, by name: the help texts of Prometheus. Times are in seconds.
  public static let metricDescriptions = [
    "sidelight_asset_bytes":
      "Bytes of assets that callers have put: decoded, those that only sessions still use too; and of "
      + "files on their way.",
    "sidelight_assets": "Assets that callers have put.",
    "sidelight_build_info": "Always 1; the label says which version runs.",
    "sidelight_compute_threads": "Threads that filter.",
    "sidelight_connections": "Connections that stand.",
    "sidelight_connections_closed_total":
      "Connections that have ended, by the reason: client, server (in good order), guard, tls, http2, "
      + "socket, other.",
    "sidelight_frame_bytes_total": "Bytes of pixels that came in and went out.",
    "sidelight_frame_queue_seconds":
      "From a frame's arrival to the start of its first pass, for frames that were filtered.",
    "sidelight_frame_seconds": "From a frame's arrival to its outcome, by outcome.",
    "sidelight_frames_in_flight": "Frames of whose outcome the client was not told yet.",
    "sidelight_frames_total":
      "Frames by outcome (filtered, passed_through, degraded, dropped); the reason where they were "
      + "dropped, else none. Exactly what clients were told.",
    "sidelight_guard_actions_total":
      "How often each guard has acted.",
    "sidelight_output_age_seconds":
      "How long ago the last frame that went out had come in, in the session where that is longest; "
      + "of sessions in which a frame waits.",
    "sidelight_pass_seconds": "What one pass over a frame takes, by its filters.",
    "sidelight_pool_bytes": "Bytes of frame buffers, in use and idle.",
    "sidelight_pool_requests_total": "Frame buffers asked for, by whether one lay ready.",
    "sidelight_ring_bytes": "Bytes of the rings of shared memory that are mapped.",
    "sidelight_rpc_seconds": "How long calls took, by method and status.",
    "sidelight_scheduler_load":
      "The work that arrives, as a part of what the threads can do; above 1 frames are dropped.",
    "sidelight_sessions": "Sessions that stand.",
    "sidelight_sessions_opened_total": "Sessions that were let in.",
    "sidelight_sessions_refused_total": "Sessions that were not let in, by the limit that was met.",
    "sidelight_stand_in_threads":
      "Threads that filters occupy which have outstayed their turn, and for which others stand in.",
  ]
}
