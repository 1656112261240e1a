import Foundation

/// The process: its arguments in, its exit status out. Everything else is `CommandLineTool`, which tests run too.
@main
struct LatchkeyProcess {
    static func main() async {
        // A reader that closes its end early, such as `head`, is seen as a failed write instead of ending the process.
        signal(SIGPIPE, SIG_IGN)
        let arguments = Array(CommandLine.arguments.dropFirst())
        let status = await CommandLineTool.standard.run(arguments, Console.ofProcess())
        exit(status.rawValue)
    }
}
