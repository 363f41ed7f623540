@main
struct Martlet {
    static func main() {}
}
