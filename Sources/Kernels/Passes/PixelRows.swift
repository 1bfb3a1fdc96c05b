import CKernels

/// Picks the rows in C that read and write pixels of a format.
enum PixelRows {
  /// The row that reads pixels of a format that is not YUV.
  static func load(
    _ rows: sl_rows, _ format: PixelFormat, _ depth: SampleDepth
  ) -> sl_load_pixels {
    switch (format, depth) {
    case (.bgra8, .eight): unsafe rows.load_bgra_u8
    case (.bgra8, .deep): unsafe rows.load_bgra_i16
    case (.rgba8, .eight): unsafe rows.load_rgba_u8
    case (.rgba8, .deep): unsafe rows.load_rgba_i16
    case (.rgb24, .eight): unsafe rows.load_rgb_u8
    case (.rgb24, .deep): unsafe rows.load_rgb_i16
    case (.gray8, .eight): unsafe rows.load_gray_u8
    case (.gray8, .deep): unsafe rows.load_gray_i16
    case (.i420, _), (.nv12, _): preconditionFailure("YUV has rows of its own")
    }
  }

  /// The row that writes pixels of a format that is not YUV.
  static func store(
    _ rows: sl_rows, _ format: PixelFormat, _ depth: SampleDepth
  ) -> sl_store_pixels {
    switch (format, depth) {
    case (.bgra8, .eight): unsafe rows.store_bgra_u8
    case (.bgra8, .deep): unsafe rows.store_bgra_i16
    case (.rgba8, .eight): unsafe rows.store_rgba_u8
    case (.rgba8, .deep): unsafe rows.store_rgba_i16
    case (.rgb24, .eight): unsafe rows.store_rgb_u8
    case (.rgb24, .deep): unsafe rows.store_rgb_i16
    case (.gray8, .eight): unsafe rows.store_gray_u8
    case (.gray8, .deep): unsafe rows.store_gray_i16
    case (.i420, _), (.nv12, _): preconditionFailure("YUV has rows of its own")
    }
  }
}
