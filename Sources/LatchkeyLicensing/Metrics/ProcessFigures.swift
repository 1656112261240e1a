import Foundation
import LatchkeyCore
import LatchkeySystem

/// The system's figures for this process, under the names that every Prometheus client uses.
struct ProcessFigures {
    /// The figures that the system gives; on systems other than Linux the processor time alone.
    let families: [any AnyMetricFamily]

    init() {
        let figures: [(name: String, help: String, value: Double?)] = [
            ("process_cpu_seconds_total", "Processor time of the process, user and system.", Self.processorSeconds),
            ("process_resident_memory_bytes", "Resident memory.", Self.residentBytes),
            ("process_open_fds", "Open file descriptors.", Self.openFiles),
            ("process_start_time_seconds", "Start time of the process, in Unix time.", Self.start),
        ]
        families = figures.compactMap { figure in
            figure.value.map { Fixed(name: figure.name, help: figure.help, value: $0) }
        }
    }

    private struct Fixed: AnyMetricFamily {
        let name: String
        let help: String
        let value: Double
        var type: String { name.hasSuffix("_total") ? Counter.type : Gauge.type }
        var labels: [MetricLabel] { [] }
        var series: [(values: [String], lines: [MetricLine])] { [([], [MetricLine(value: value)])] }
    }

    private static var processorSeconds: Double? {
        // POSIX has a million of its units in a second. `timespec` is of another module in each kind of build.
        let time = clock()
        return time < 0 ? nil : Double(time) / 1_000_000
    }

    private static var residentBytes: Double? {
        guard let pages = words(of: "/proc/self/statm")?.dropFirst().first.flatMap({ Double($0) }) else { return nil }
        return pages * Double(sysconf(Int32(_SC_PAGESIZE)))
    }

    private static var openFiles: Double? {
        // One of them is the folder itself, which is open while it is read.
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")).map { Double($0.count - 1) }
    }

    /// Never changes, so that it is read once.
    private static let start: Double? = {
        guard let status = text(of: "/proc/self/stat"), let afterName = status.lastIndex(of: ")"),
            let ticks = status[afterName...].split(separator: " ").dropFirst(20).first.flatMap({ Double($0) }),
            let boot = text(of: "/proc/stat")?.split(separator: "\n").first(where: { $0.hasPrefix("btime ") })
                .flatMap({ Double($0.dropFirst(6)) })
        else { return nil }
        return boot + ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
    }()

    private static func text(of path: String) -> String? {
        // Not with Foundation's readers, which stop within the first page of a file without a size.
        (try? PlainFile.read(path, limit: 1 << 24)).map { String(decoding: $0, as: UTF8.self) }
    }

    private static func words(of path: String) -> [Substring]? { text(of: path)?.split(separator: " ") }
}
