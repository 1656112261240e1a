import Foundation
import LatchkeyCore
import LatchkeyPlayback

/// Counts the key server's allocations, including libcrypto's.
///
/// The process starts itself again with a small C library in front of the allocator, which is compiled for this purpose. Other
/// ways to count every allocation would slow down all other figures.
struct AllocationCount: Codable, Sendable, Equatable {
    /// Allocations per CKC.
    let whole: Double
    /// The RSA operation's part of them.
    let rsa: Double

    /// Builds the counter, and counts in a separate process. Blocks.
    /// - Parameter flag: the option that makes the process count.
    /// - Throws: a `Diagnosis` without a compiler, or without an allocator that can be counted.
    static func measured(by flag: String) throws -> AllocationCount {
        #if os(Linux)
            let folder = try WorkingFolder()
            defer { folder.remove() }
            try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
            let source = folder.url.appending(path: "counter.c")
            let library = folder.url.appending(path: "counter.so")
            try Data(counter.utf8).write(to: source)
            let compiler = try ToolRun.find("clang", "cc", "gcc")
            _ = try ToolRun.output(of: compiler, ["-O1", "-shared", "-fPIC", "-o", library.path, source.path])
            guard let itself = Bundle.main.executableURL else { throw Diagnosis.toolMissing("path to this program") }
            let output = try ToolRun.output(
                of: itself, [flag], environment: ["LD_PRELOAD": library.path])
            return try JSONDecoder().decode(AllocationCount.self, from: Data(output.utf8))
        #else
            throw Diagnosis.notOnThisSystem
        #endif
    }

    /// Counts in this process, which runs with the counter in front of its allocator.
    static func counted() throws -> AllocationCount {
        typealias Counter = @convention(c) () -> UInt
        guard let symbol = dlsym(nil, "latchkey_allocations") else {
            throw Diagnosis.toolFailed("LD_PRELOAD", "the counter is not there")
        }
        let counter = unsafeBitCast(symbol, to: Counter.self)
        let bench = try KeyServerBench(bits: 2048)
        let count = { (work: (Int) throws -> Void) in
            // The first round fetches algorithms and fills pools; the second one shows the cost of each further CKC.
            for number in bench.spcs.indices { try work(number) }
            let start = counter()
            for number in bench.spcs.indices { try work(number) }
            return Double(counter() - start) / Double(bench.spcs.count)
        }
        return AllocationCount(whole: try count(bench.answer), rsa: try count(bench.unwrap))
    }

    private static let counter = """
        #include <errno.h>
        #include <stddef.h>
        void *__libc_malloc(size_t);
        void *__libc_calloc(size_t, size_t);
        void *__libc_realloc(void *, size_t);
        void *__libc_memalign(size_t, size_t);
        static __thread unsigned long count __attribute__((tls_model("initial-exec")));
        unsigned long latchkey_allocations(void) { return count; }
        void *malloc(size_t size) { count++; return __libc_malloc(size); }
        void *calloc(size_t number, size_t size) { count++; return __libc_calloc(number, size); }
        void *realloc(void *old, size_t size) { count++; return __libc_realloc(old, size); }
        void *memalign(size_t alignment, size_t size) { count++; return __libc_memalign(alignment, size); }
        void *aligned_alloc(size_t alignment, size_t size) { count++; return __libc_memalign(alignment, size); }
        int posix_memalign(void **result, size_t alignment, size_t size) {
            count++;
            *result = __libc_memalign(alignment, size);
            return *result ? 0 : ENOMEM;
        }
        """
}
