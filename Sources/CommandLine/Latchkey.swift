@main
struct LatchkeyTool {
    static func main() {}
}
