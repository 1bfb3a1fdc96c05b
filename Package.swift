// swift-tools-version: 6.2
import PackageDescription

/// One set of rules for every target of ours. Warnings become errors in CI (`dev/check`).
let strict: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InferIsolatedConformances"),
]

/// The rules where pixels are touched: every unsafe operation is spelled out.
let strictMemory: [SwiftSetting] = strict + [.strictMemorySafety()]

let grpcCore: Target.Dependency = .product(name: "GRPCCore", package: "grpc-swift-2")
let grpcProtobuf: Target.Dependency = .product(name: "GRPCProtobuf", package: "grpc-swift-protobuf")
let grpcTransport: Target.Dependency =
  .product(name: "GRPCNIOTransportHTTP2Posix", package: "grpc-swift-nio-transport")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let tracing: Target.Dependency = .product(name: "Tracing", package: "swift-distributed-tracing")
let logging: Target.Dependency = .product(name: "Logging", package: "swift-log")
let lifecycle: Target.Dependency =
  .product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let metrics: Target.Dependency = .product(name: "Metrics", package: "swift-metrics")
let asyncAlgorithms: Target.Dependency =
  .product(name: "AsyncAlgorithms", package: "swift-async-algorithms")

// Each is satisfied by one of its traits.
let admin: TargetDependencyCondition? = .when(traits: ["Admin", "Command"])
let identity: TargetDependencyCondition? = .when(traits: ["Identity", "Command"])

/// A target of C that wraps a library of the trait Codecs.
func videoLibrary(_ name: String, links library: String) -> Target {
  .target(
    name: name,
    path: "Sources/\(name)",
    cSettings: [.define("SIDELIGHT_CODECS", .when(traits: ["Codecs"]))],
    linkerSettings: [.linkedLibrary(library, .when(traits: ["Codecs"]))]
  )
}

let package = Package(
  name: "sidelight",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "SidelightKernels", targets: ["SidelightKernels"]),
    .library(name: "SidelightKernelLanguage", targets: ["SidelightKernelLanguage"]),
    .library(name: "SidelightScene", targets: ["SidelightScene"]),
    .library(name: "SidelightServer", targets: ["SidelightServer"]),
    .library(name: "SidelightClient", targets: ["SidelightClient"]),
    .library(name: "SidelightCodecs", targets: ["SidelightCodecs"]),
    .library(name: "SidelightVision", targets: ["SidelightVision"]),
    .library(name: "SidelightText", targets: ["SidelightText"]),
    .library(name: "SidelightBarcode", targets: ["SidelightBarcode"]),
    .library(name: "SidelightAdmin", targets: ["SidelightAdmin"]),
    .library(name: "SidelightIdentity", targets: ["SidelightIdentity"]),
    .library(name: "SidelightSupervisor", targets: ["SidelightSupervisor"]),
    .library(name: "SidelightFilterProcesses", targets: ["SidelightFilterProcesses"]),
    .executable(name: "sidelight", targets: ["sidelight"]),
  ],
  traits: [
    .trait(name: "Admin", description: "SidelightAdmin, the admin endpoint (fetches Hummingbird)"),
    .trait(name: "Identity", description: "SidelightIdentity, JSON Web Tokens (fetches JWTKit)"),
    .trait(
      name: "Vision",
      description: "SidelightVision, faces and models (needs Debian's packages of OpenCV 4)"),
    .trait(
      name: "Codecs",
      description: "H.264, VP8, VP9 and AV1 (needs OpenH264, libvpx and dav1d)"),
    // It includes the packages of Admin and Identity, and does not enable their traits: every trait
    // is an option of the compiler, and an equal and short list lets `dev/build` reuse modules.
    .trait(
      name: "Command",
      description:
        "The sidelight command (fetches Yams, packages for settings and arguments, Hummingbird and "
        + "JWTKit)"),
    .default(enabledTraits: ["Command"]),
  ],
  dependencies: [
    // SidelightTransport hooks into the internals of these three, which a minor version may change
    // (docs/design/upstream.md). TransportTests names every hook.
    .package(url: "https://github.com/grpc/grpc-swift-2", .upToNextMinor(from: "2.4.3")),
    .package(
      url: "https://github.com/grpc/grpc-swift-nio-transport", .upToNextMinor(from: "2.9.2")),
    .package(url: "https://github.com/apple/swift-nio-http2", .upToNextMinor(from: "1.46.0")),
    .package(url: "https://github.com/grpc/grpc-swift-protobuf", from: "2.4.1"),
    .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0", traits: []),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    .package(url: "https://github.com/apple/swift-certificates", from: "1.21.1"),
    .package(url: "https://github.com/apple/swift-asn1", from: "1.7.4"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
    .package(
      url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/vapor/jwt-kit", from: "5.7.1"),
    .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
  ],
  targets: [
    // The fields of encoded protobuf messages: of the contract, and of models.
    .target(name: "SidelightProtobuf", path: "Sources/Protobuf", swiftSettings: strictMemory),

    // Pixels: no gRPC, no Foundation.
    .target(name: "CKernels", path: "Sources/CKernels"),
    .target(
      name: "SidelightKernels",
      dependencies: ["CKernels"],
      path: "Sources/Kernels",
      swiftSettings: strictMemory
    ),

    // Faces, mattes and covers: the work on a stream's frames that several filters share, and the
    // filters that need it.
    .target(
      name: "SidelightScene",
      dependencies: ["SidelightKernels", "CKernels"],
      path: "Sources/Scene",
      swiftSettings: strictMemory
    ),

    // Kernels in text, and the catalogue of built-in filters: pixels, scenes, and kernels in text.
    .target(
      name: "SidelightKernelLanguage",
      dependencies: ["SidelightKernels", "SidelightScene", "CKernels", "CKernelCatalogue"],
      path: "Sources/KernelLanguage",
      exclude: ["Catalogue"],
      swiftSettings: strictMemory
    ),

    // Still images and Y4M, through libjpeg-turbo and libpng.
    .systemLibrary(
      name: "CTurboJPEG",
      path: "Sources/CTurboJPEG",
      pkgConfig: "libturbojpeg",
      providers: [.apt(["libturbojpeg0-dev"]), .brew(["jpeg-turbo"])]
    ),
    .systemLibrary(
      name: "CPNG",
      path: "Sources/CPNG",
      pkgConfig: "libpng",
      providers: [.apt(["libpng-dev"]), .brew(["libpng"])]
    ),
    // Video, through OpenH264, libvpx and dav1d. Without the trait Codecs, these targets are empty.
    videoLibrary("COpenH264", links: "openh264"),
    videoLibrary("CVPX", links: "vpx"),
    videoLibrary("CDav1d", links: "dav1d"),
    .target(
      name: "SidelightCodecs",
      dependencies: ["SidelightKernels", "CTurboJPEG", "CPNG", "COpenH264", "CVPX", "CDav1d"],
      path: "Sources/Codecs",
      swiftSettings: strictMemory
    ),

    // Faces and models, through OpenCV. Without the trait Vision, CVision is empty, and
    // SidelightVision is what works without it. Its folder `system` has a link to OpenCV's headers,
    // since a target cannot search for headers outside the package.
    .target(
      name: "CVision",
      path: "Sources/CVision",
      exclude: ["system"],
      cxxSettings: [
        .headerSearchPath("system"),
        .define("SIDELIGHT_VISION", .when(traits: ["Vision"])),
      ],
      linkerSettings: ["core", "imgproc", "objdetect", "video", "dnn"].map {
        .linkedLibrary("opencv_\($0)", .when(traits: ["Vision"]))
      }
    ),
    .target(
      name: "SidelightVision",
      dependencies: ["SidelightKernels", "SidelightScene", "SidelightProtobuf", "CVision"],
      path: "Sources/Vision",
      swiftSettings: strictMemory
    ),

    // The filters of the catalogue that are kernels in text, embedded by the C compiler.
    .target(name: "CKernelCatalogue", path: "Sources/CKernelCatalogue"),

    // Texts, through FreeType, HarfBuzz and FriBidi, which CText wraps.
    .systemLibrary(
      name: "CFreeType",
      path: "Sources/CFreeType",
      pkgConfig: "freetype2",
      providers: [.apt(["libfreetype-dev"]), .brew(["freetype"])]
    ),
    .systemLibrary(
      name: "CHarfBuzz",
      path: "Sources/CHarfBuzz",
      pkgConfig: "harfbuzz",
      providers: [.apt(["libharfbuzz-dev"]), .brew(["harfbuzz"])]
    ),
    .systemLibrary(
      name: "CFriBidi",
      path: "Sources/CFriBidi",
      pkgConfig: "fribidi",
      providers: [.apt(["libfribidi-dev"]), .brew(["fribidi"])]
    ),
    .target(
      name: "CText", dependencies: ["CFreeType", "CHarfBuzz", "CFriBidi"], path: "Sources/CText"),
    .target(
      name: "SidelightText",
      dependencies: ["SidelightKernels", "CKernels", "CText"],
      path: "Sources/Text",
      swiftSettings: strictMemory
    ),

    // Barcodes and QR codes through libzbar and libzint, which are loaded if they are installed.
    .target(name: "CBarcode", path: "Sources/CBarcode"),
    .target(
      name: "SidelightBarcode",
      dependencies: ["SidelightKernels", "CBarcode"],
      path: "Sources/Barcode",
      swiftSettings: strictMemory
    ),

    // glibc's allocator settings, which its own module leaves out.
    .systemLibrary(name: "CMalloc", path: "Sources/CMalloc"),
    // The version, which dev/build sets for packages. It is in C, whose options belong to one target: a
    // new version compiles one file.
    .target(
      name: "CVersion",
      path: "Sources/CVersion",
      cSettings: [
        .define(
          "SIDELIGHT_VERSION",
          to: "\"\(Context.environment["SIDELIGHT_VERSION"] ?? "0.0.0")\"")
      ]),
    // A signal handler that samples the process.
    .target(name: "CProfiler", path: "Sources/CProfiler"),
    // System calls that share memory and pass descriptors, which need macros of C.
    .target(name: "CSharedMemory", path: "Sources/CSharedMemory"),

    // The contract: generated messages, their conversions to and from the types of the kernels, and
    // the value types that server and client share.
    .target(
      name: "SidelightWire",
      dependencies: [
        "SidelightKernels", "SidelightProtobuf", grpcCore, grpcProtobuf, protobuf, tracing,
      ],
      path: "Sources/Wire",
      swiftSettings: strict
    ),
    // Everything between the socket and gRPC's handlers. The only library that imports NIO, except
    // for SidelightAdmin, whose HTTP server takes NIO's buffers.
    .target(
      name: "SidelightTransport",
      dependencies: [
        "SidelightKernels", "SidelightWire", "CSharedMemory",
        grpcCore, grpcProtobuf, grpcTransport, protobuf, logging, lifecycle,
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOTLS", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "X509", package: "swift-certificates"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "Crypto", package: "swift-crypto"),
      ],
      path: "Sources/Transport",
      swiftSettings: strict
    ),

    .target(
      name: "SidelightServer",
      dependencies: [
        "SidelightKernelLanguage",
        "SidelightKernels", "SidelightScene", "SidelightCodecs", "SidelightWire",
        "SidelightTransport",
        grpcCore, grpcProtobuf, protobuf, tracing, metrics, logging, lifecycle, asyncAlgorithms,
        "CVersion",
        .target(name: "CMalloc", condition: .when(platforms: [.linux])),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      path: "Sources/Server",
      swiftSettings: strict
    ),
    .target(
      name: "SidelightClient",
      dependencies: [
        "SidelightKernels", "SidelightWire", "SidelightTransport",
        grpcCore, grpcProtobuf, protobuf, tracing, asyncAlgorithms,
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      path: "Sources/Client",
      swiftSettings: strict
    ),
    // Telemetry of the command: an OTLP exporter behind Tracer, Prometheus text behind
    // MetricsFactory, and log handlers.
    .target(
      name: "SidelightTelemetry",
      dependencies: [
        grpcCore, grpcProtobuf, grpcTransport, protobuf, tracing, metrics, logging, lifecycle,
        asyncAlgorithms,
        .product(name: "DequeModule", package: "swift-collections"),
      ],
      path: "Sources/Telemetry",
      swiftSettings: strict
    ),
    // Overrides and quotas that the servers of a fleet share through etcd.
    .target(
      name: "SidelightFleet",
      dependencies: [
        "SidelightServer", "SidelightWire", "SidelightKernels", grpcCore, grpcProtobuf,
        grpcTransport, protobuf, metrics, logging, lifecycle, asyncAlgorithms,
      ],
      path: "Sources/Fleet",
      swiftSettings: strict
    ),
    // Probes, metrics and a live page over HTTP.
    .target(
      name: "SidelightAdmin",
      dependencies: [
        "SidelightServer", "CProfiler", logging, lifecycle,
        .product(name: "Hummingbird", package: "hummingbird", condition: admin),
        .product(name: "HummingbirdCore", package: "hummingbird", condition: admin),
        .product(name: "HTTPTypes", package: "swift-http-types", condition: admin),
        .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Sources/Admin",
      resources: [
        .embedInCode("Page/index.html"), .embedInCode("Page/page.css"),
        .embedInCode("Page/page.js"),
      ],
      swiftSettings: strict
    ),
    // The files of the studio's page, embedded by the C compiler: arrays of Swift take minutes.
    .target(name: "CStudioPage", path: "Sources/CStudioPage"),
    // A web page that filters the camera, and calls on WebSockets.
    .target(
      name: "SidelightStudio",
      dependencies: [
        "SidelightServer", "SidelightTransport", "CStudioPage", lifecycle,
      ],
      path: "Sources/Studio",
      exclude: ["Page"],
      swiftSettings: strict
    ),
    // Authentication of callers by JSON Web Tokens.
    .target(
      name: "SidelightIdentity",
      dependencies: [
        "SidelightServer", "SidelightTransport", "SidelightKernels", grpcCore, logging,
        .product(name: "JWTKit", package: "jwt-kit", condition: identity),
      ],
      path: "Sources/Identity",
      swiftSettings: strict
    ),
    // Worker processes, and a supervisor that holds the sockets and restarts them.
    .target(
      name: "SidelightSupervisor",
      dependencies: [
        "SidelightServer", "SidelightWire", logging, lifecycle,
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "Sources/Supervisor",
      swiftSettings: strict
    ),
    // Filters that run in other processes, which the host starts, watches and starts again.
    .target(name: "CFilterProcess", path: "Sources/CFilterProcess"),
    .target(
      name: "SidelightFilterProcesses",
      dependencies: [
        "SidelightKernels", "SidelightScene", "SidelightWire", "SidelightTransport",
        "CFilterProcess", grpcCore, grpcProtobuf, protobuf, logging, metrics,
      ],
      path: "Sources/FilterProcesses",
      swiftSettings: strict
    ),
    // The settings of the command: flags, environment variables and a file.
    .target(
      name: "SidelightConfiguration",
      dependencies: [
        "SidelightServer", "SidelightFleet", "SidelightIdentity", "SidelightVision",
        "SidelightWire", "SidelightStudio", "SidelightTelemetry", logging,
        .product(name: "Yams", package: "Yams", condition: .when(traits: ["Command"])),
      ],
      path: "Sources/Configuration",
      swiftSettings: strict
    ),
    .executableTarget(
      name: "sidelight",
      dependencies: [
        "SidelightKernelLanguage",
        "SidelightServer", "SidelightAdmin", "SidelightTelemetry", "SidelightIdentity",
        "SidelightSupervisor", "SidelightConfiguration", "SidelightClient", "SidelightCodecs",
        "SidelightFilterProcesses", "SidelightFleet",
        "SidelightStudio", "SidelightVision", "SidelightText", "SidelightBarcode", "SidelightWire",
        "SidelightKernels",
        .product(
          name: "ArgumentParser", package: "swift-argument-parser",
          condition: .when(traits: ["Command"])),
        grpcCore, logging, metrics, lifecycle, protobuf, asyncAlgorithms,
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ],
      path: "Sources/sidelight",
      swiftSettings: strict
    ),

    // Servers, clients and pictures that several test targets use. In no product.
    .target(
      name: "SidelightTestSupport",
      dependencies: [
        "SidelightKernelLanguage",
        "SidelightServer", "SidelightTransport", "SidelightCodecs", "SidelightWire",
        "SidelightKernels", grpcCore, grpcTransport, protobuf, tracing, metrics, logging,
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "X509", package: "swift-certificates"),
        .product(name: "SwiftASN1", package: "swift-asn1"),
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      path: "Tests/Support",
      swiftSettings: strict),

    // The definitions of operations, with which the results of plans are compared. In no product.
    .target(
      name: "SidelightReference",
      dependencies: [
        "SidelightKernelLanguage", "SidelightKernels", "SidelightScene", "SidelightText",
        "CKernels",
      ],
      path: "Tests/Reference",
      swiftSettings: strictMemory),

    .testTarget(
      name: "KernelsTests",
      dependencies: [
        "SidelightKernelLanguage", "SidelightReference", "SidelightKernels", "SidelightScene",
        "SidelightText",
      ],
      swiftSettings: strictMemory),
    .testTarget(
      name: "CodecsTests", dependencies: ["SidelightCodecs", "SidelightKernels"],
      swiftSettings: strict),
    .testTarget(
      name: "VisionTests",
      dependencies: [
        "SidelightKernelLanguage", "SidelightVision", "SidelightCodecs", "SidelightKernels",
        "SidelightScene",
      ],
      swiftSettings: strictMemory),
    .testTarget(
      name: "BarcodeTests",
      dependencies: ["SidelightKernelLanguage", "SidelightBarcode", "SidelightKernels"],
      swiftSettings: strictMemory),
    .testTarget(
      name: "TextTests",
      dependencies: ["SidelightKernelLanguage", "SidelightText", "SidelightKernels"],
      swiftSettings: strictMemory),
    .testTarget(
      name: "GoldenTests",
      dependencies: [
        "SidelightKernelLanguage",
        "SidelightReference", "SidelightCodecs", "SidelightKernels", "SidelightText",
      ],
      exclude: ["Pictures"], swiftSettings: strictMemory),
    .testTarget(
      name: "WireTests",
      dependencies: [
        "SidelightKernelLanguage", "SidelightWire", "SidelightProtobuf", "SidelightKernels",
        grpcCore, protobuf,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TransportTests",
      dependencies: [
        "SidelightTransport", "SidelightWire", "SidelightKernels", grpcCore, grpcProtobuf,
        grpcTransport, protobuf, logging,
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOHTTP2", package: "swift-nio-http2"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ClientTests",
      dependencies: [
        "SidelightKernelLanguage",
        "SidelightTestSupport", "SidelightClient", "SidelightServer", "SidelightTransport",
        "SidelightCodecs", "SidelightWire", "SidelightKernels", grpcCore, grpcProtobuf,
        grpcTransport, protobuf,
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "X509", package: "swift-certificates"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "TelemetryTests",
      dependencies: [
        "SidelightTelemetry", grpcCore, grpcTransport, protobuf, tracing, metrics, logging,
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ConfigurationTests",
      dependencies: [
        "SidelightConfiguration", "SidelightIdentity", "SidelightServer", "SidelightVision",
        "SidelightWire", logging,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "SupervisorTests",
      dependencies: [
        "SidelightSupervisor", "SidelightServer", "SidelightClient", "SidelightWire", logging,
      ],
      swiftSettings: strict),
    .testTarget(
      name: "StudioTests",
      dependencies: [
        "SidelightTestSupport", "SidelightStudio", "SidelightServer", "SidelightTransport",
        "SidelightWire", grpcCore, protobuf,
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "IdentityTests",
      dependencies: [
        "SidelightTestSupport", "SidelightIdentity", "SidelightServer", "SidelightWire", grpcCore,
        grpcProtobuf, protobuf,
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "CryptoExtras", package: "swift-crypto"),
      ],
      swiftSettings: strict),
    .testTarget(
      name: "ServerTests",
      dependencies: [
        "SidelightKernelLanguage",
        "SidelightTestSupport", "SidelightServer", "SidelightClient", "SidelightTransport",
        "SidelightCodecs", "SidelightWire", "SidelightKernels", "SidelightScene", "SidelightText",
        "SidelightTelemetry", grpcCore, grpcProtobuf, grpcTransport, protobuf, tracing, metrics,
        logging,
        .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOHPACK", package: "swift-nio-http2"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "NIOSSL", package: "swift-nio-ssl"),
        .product(name: "X509", package: "swift-certificates"),
        .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
      ],
      swiftSettings: strict),
  ],
  cxxLanguageStandard: .cxx17
)

// libFuzzer on the readers of untrusted input: `dev/fuzz` sets the variable, and compiles all
// modules with sanitizers. A new fuzz target is a file Fuzz/Targets/NAME/main.swift, seeds in
// Fuzz/Seeds/NAME, and its name here.
if Context.environment["SIDELIGHT_FUZZ"] != nil {
  let fuzzTargets = [
    "asset", "font", "frame", "geometry", "jpeg", "kernel", "model", "pipeline", "pipeline-text",
    "slots", "text", "upload", "video", "websocket",
  ]

  package.targets += [
    .target(name: "CFuzzer", path: "Fuzz/CFuzzer"),
    .target(
      name: "FuzzDriver", dependencies: ["CFuzzer"], path: "Fuzz/Driver", swiftSettings: strict),
    // The files of the server that read uploads, as links: the whole server would add most of the
    // dependencies to the build.
    .target(
      name: "SidelightUploads",
      dependencies: ["SidelightKernels", "SidelightWire", grpcCore, grpcProtobuf, protobuf],
      path: "Fuzz/Uploads",
      swiftSettings: strict),
  ]
  package.targets += fuzzTargets.map { name in
    .executableTarget(
      name: "fuzz-\(name)",
      dependencies: [
        "FuzzDriver", "SidelightKernels", "SidelightKernelLanguage", "SidelightCodecs",
        "SidelightWire", "SidelightTransport",
        "SidelightUploads", "SidelightVision", "SidelightText", "SidelightReference",
        grpcProtobuf, grpcTransport, protobuf, .product(name: "NIOCore", package: "swift-nio"),
      ],
      path: "Fuzz/Targets/\(name)",
      swiftSettings: strict)
  }
}
