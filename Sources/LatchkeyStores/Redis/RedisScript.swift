import LatchkeyCore
import LatchkeyFairPlay

/// A script that runs in Redis.
///
/// The keys are that of the record and, where something in it counts, that of the tenant's count. The first argument is always the version
/// that was read.
struct RedisScript {
    let text: String
    let digest: String

    init(_ text: String) {
        self.text = text
        // Fails only without memory; then each call sends the whole script.
        digest = (try? MessageDigest.sha1(Array(text.utf8)).hexString) ?? ""
    }

    /// Sets version, bytes and end, if the version is still the one that was read.
    static let write = RedisScript(
        """
        if (redis.call('HMGET', KEYS[1], 'v')[1] or '') ~= ARGV[1] then return 0 end
        redis.call('HSET', KEYS[1], 'v', ARGV[2], 'b', ARGV[3])
        redis.call('PEXPIREAT', KEYS[1], ARGV[4])
        return 1
        """)

    static let remove = RedisScript(
        """
        if redis.call('HMGET', KEYS[1], 'v')[1] ~= ARGV[1] then return 0 end
        redis.call('DEL', KEYS[1])
        return 1
        """)

    // The count of a tenant is a sorted set. For each thing of a record it has `NUMBER:NAME`, with its end in milliseconds as the score. The
    // record has in `n` how many these are, and in `c` the version with which they were written: a version of the server that keeps no count
    // leaves both as they are. The member without a name, with the score 0, says that all records count in the set.

    /// Makes the members of a record those of the arguments from the number `first` on, and takes away what it had more of them before.
    private static let count = """
        local function count(former, name, first)
            local new = {}
            for number = first, #ARGV do
                new[#new + 1] = ARGV[number]
                new[#new + 1] = (number - first) .. ':' .. name
            end
            local gone = {}
            for number = #new / 2, former - 1 do gone[#gone + 1] = number .. ':' .. name end
            if #gone > 0 then redis.call('ZREM', KEYS[2], unpack(gone)) end
            if #new > 0 then redis.call('ZADD', KEYS[2], unpack(new)) end
            return #new / 2
        end

        """

    /// As `write`, and counts what ends at the times behind the name. A record that was written without a count makes the whole one unknown.
    /// Each call forgets a few things that ended, more than it adds on the whole.
    static let writeAndCount = RedisScript(
        count + """
            local held = redis.call('HMGET', KEYS[1], 'v', 'c', 'n')
            if (held[1] or '') ~= ARGV[1] then return 0 end
            if held[1] and held[1] ~= held[2] then redis.call('ZREM', KEYS[2], '') end
            local number = count(tonumber(held[3] or 0), ARGV[5], 6)
            local time = redis.call('TIME')
            local ended = redis.call('ZRANGEBYSCORE', KEYS[2], '(0', time[1] .. '000', 'LIMIT', 0, 16)
            if #ended > 0 then redis.call('ZREM', KEYS[2], unpack(ended)) end
            redis.call('HSET', KEYS[1], 'v', ARGV[2], 'b', ARGV[3], 'c', ARGV[2], 'n', number)
            redis.call('PEXPIREAT', KEYS[1], ARGV[4])
            return 1
            """)

    /// As `remove`, of a record that counts.
    static let removeAndCount = RedisScript(
        count + """
            local held = redis.call('HMGET', KEYS[1], 'v', 'n')
            if held[1] ~= ARGV[1] then return 0 end
            count(tonumber(held[2] or 0), ARGV[2], 3)
            redis.call('DEL', KEYS[1])
            return 1
            """)

    /// Counts a record that is as it was read, and leaves it so.
    static let countOnly = RedisScript(
        count + """
            local held = redis.call('HMGET', KEYS[1], 'v', 'n')
            if held[1] ~= ARGV[1] then return 0 end
            local number = count(tonumber(held[2] or 0), ARGV[2], 3)
            redis.call('HSET', KEYS[1], 'c', ARGV[1], 'n', number)
            return 1
            """)
}
