import LatchkeyCore
import LatchkeyFairPlay

/// A script that runs in Redis.
///
/// The keys are the record's and, if it is listed, those of the sets that count and list its shard.
struct RedisScript {
    let text: String
    let digest: String

    init(_ text: String) {
        self.text = text
        // Fails only without memory; then each call sends the whole script.
        digest = (try? MessageDigest.sha1(Array(text.utf8)).hexString) ?? ""
    }

    /// Sets version, bytes and end, if the version has not changed: ARGV has the version that was read, the three, and `again` if the first
    /// answer is not known.
    static let write = RedisScript(
        """
        local held = redis.call('HMGET', KEYS[1], 'v')[1]
        if (held or '') ~= ARGV[1] then
            if ARGV[5] == 'again' and held == ARGV[2] and redis.call('HGET', KEYS[1], 'b') == ARGV[3] then return 1 end
            return 0
        end
        redis.call('HSET', KEYS[1], 'v', ARGV[2], 'b', ARGV[3])
        redis.call('PEXPIREAT', KEYS[1], ARGV[4])
        return 1
        """)

    /// ARGV has the version that was read.
    static let remove = RedisScript(
        """
        if redis.call('HMGET', KEYS[1], 'v')[1] ~= ARGV[1] then return 0 end
        redis.call('DEL', KEYS[1])
        return 1
        """)

    // KEYS[2] is a sorted set. For each thing of a record it has `NUMBER:NAME` with its end in milliseconds as the score, and for the record
    // itself `:NAME` with its end below zero. KEYS[3] has the names, all with the score 0. The record has in `n` its number of things, and
    // in `i` the version at the time of this write: a server version that keeps fewer fields leaves both as they are. On one server the
    // empty name, which sorts before all others, marks that all records are listed and counted.

    private static let index = """
        local function index(former, name, finish, first, isListed)
            local new = {}
            for number = first, #ARGV do
                new[#new + 1] = ARGV[number]
                new[#new + 1] = (number - first) .. ':' .. name
            end
            local count = #new / 2
            if count < former then
                local gone = {}
                for number = count, former - 1 do gone[#gone + 1] = number .. ':' .. name end
                redis.call('ZREM', KEYS[2], unpack(gone))
            end
            if finish then
                new[#new + 1] = -finish
                new[#new + 1] = ':' .. name
                redis.call('ZADD', KEYS[2], unpack(new))
                if not isListed then redis.call('ZADD', KEYS[3], 0, name) end
            else
                redis.call('ZREM', KEYS[2], ':' .. name)
                redis.call('ZREM', KEYS[3], name)
            end
            return count
        end

        """

    /// Forgets some ended things and records: between the times below zero and above it there is only the empty member.
    private static let forget = """
        local function forget(now, most)
            local ended = redis.call('ZRANGEBYSCORE', KEYS[2], -now, now, 'LIMIT', 0, most)
            local gone, names = {}, {}
            for _, member in ipairs(ended) do
                if member ~= '' then gone[#gone + 1] = member end
                if member:byte(1) == 58 then names[#names + 1] = member:sub(2) end
            end
            if #gone > 0 then redis.call('ZREM', KEYS[2], unpack(gone)) end
            if #names > 0 then redis.call('ZREM', KEYS[3], unpack(names)) end
            return #names
        end

        """

    private static let clock = """
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)

        """

    /// As `write`, but also counts and lists. ARGV has the version that was read, then version, bytes, end, the time of the decision if it was
    /// not read from this clock, `again` if the first answer is not known, the name, and the ends of the things.
    ///
    /// Answers with 1 or 0, the clock, and after 0 the held record. The time of the decision must not be ahead of the clock, or slots would
    /// end too soon. A record that was written without being listed makes the list incomplete. One call in four forgets ended ones, more
    /// than four calls add.
    static let writeAndCount = RedisScript(
        index + forget + clock + """
            local held = redis.call('HMGET', KEYS[1], 'v', 'i', 'n')
            local isListed = held[1] and held[1] == held[2]
            if (held[1] or '') ~= ARGV[1] or (ARGV[5] ~= '' and tonumber(ARGV[5]) > now) then
                local bytes = redis.call('HGET', KEYS[1], 'b')
                if ARGV[6] == 'again' and held[1] == ARGV[2] and bytes == ARGV[3] then return {1, time[1], time[2]} end
                return {0, time[1], time[2], held[1], bytes}
            end
            if held[1] and not isListed then
                redis.call('ZREM', KEYS[2], '')
                redis.call('ZREM', KEYS[3], '')
            end
            local number = index(tonumber(held[3] or 0), ARGV[7], ARGV[4], 8, isListed)
            redis.call('HSET', KEYS[1], 'v', ARGV[2], 'b', ARGV[3], 'i', ARGV[2], 'n', number)
            redis.call('PEXPIREAT', KEYS[1], ARGV[4])
            if time[2] % 4 == 0 then forget(now, 16) end
            return {1, time[1], time[2]}
            """)

    /// As `remove`, for a listed record; ARGV also has its name.
    static let removeAndCount = RedisScript(
        index + """
            local held = redis.call('HMGET', KEYS[1], 'v', 'n')
            if held[1] ~= ARGV[1] then return 0 end
            index(tonumber(held[2] or 0), ARGV[2], nil, 3)
            redis.call('DEL', KEYS[1])
            return 1
            """)

    /// Counts and lists a record without changing it, if it is as it was read: its version, its name, and the ends of its things.
    static let countOnly = RedisScript(
        index + """
            local held = redis.call('HMGET', KEYS[1], 'v', 'n')
            if held[1] ~= ARGV[1] then return 0 end
            local number = index(tonumber(held[2] or 0), ARGV[2], redis.call('PEXPIRETIME', KEYS[1]), 3)
            redis.call('HSET', KEYS[1], 'i', ARGV[1], 'n', number)
            return 1
            """)

    /// Lists a record without changing it, if it is as it was read: its version and its name.
    static let listOnly = RedisScript(
        """
        if redis.call('HMGET', KEYS[1], 'v')[1] ~= ARGV[1] then return 0 end
        redis.call('ZADD', KEYS[2], -redis.call('PEXPIRETIME', KEYS[1]), ':' .. ARGV[2])
        redis.call('ZADD', KEYS[3], 0, ARGV[2])
        return 1
        """)

    /// Forgets ended things and records, at most as many of each as ARGV says. The first key is a record's, and selects the shard.
    static let forgetEnded = RedisScript(forget + clock + "return forget(now, ARGV[1])")

    /// Extends a slot in an account's record: ARGV has its session, its fence, the milliseconds from now on, and the account's name.
    ///
    /// Answers with 1, the clock and the slot's end; or with 0, the clock and the held record if it has no such slot. It knows the form of
    /// `AccountState.recordBytes`, where a slot is the session, three texts that may be missing, the content, and four numbers. Things are in
    /// the order of the slots.
    static let extend = RedisScript(
        clock + """
            local held = redis.call('HMGET', KEYS[1], 'v', 'b', 'i')
            local bytes, at = held[2], 2
            local function number()
                local value, place = 0, 1
                local byte = bytes:byte(at)
                while byte > 127 do
                    value = value + (byte - 128) * place
                    place = place * 128
                    at = at + 1
                    byte = bytes:byte(at)
                end
                at = at + 1
                return value + byte * place
            end
            local function text()
                local count = number()
                at = at + count
                return bytes:sub(at - count, at - 1)
            end
            local function find()
                for slot = 0, number() - 1 do
                    local session = text()
                    for _ = 1, 3 do if number() ~= 0 then text() end end
                    text()
                    number()
                    local fence = number()
                    number()
                    local from = at
                    local finish = number()
                    if session == ARGV[1] and finish > now then
                        return fence == tonumber(ARGV[2]) and slot, from, finish
                    end
                end
            end
            local isForm = bytes and bytes:byte(1) == 1 and held[1] == held[3]
            local isRead, slot, from, finish = false
            if isForm then isRead, slot, from, finish = pcall(find) end
            if not isRead or not slot then return {0, time[1], time[2], held[1], bytes} end
            local new = math.max(finish, now + tonumber(ARGV[3]))
            if new == finish then return {1, time[1], time[2], finish} end
            local rest, groups = new, {}
            while rest > 127 do
                groups[#groups + 1] = string.char(rest % 128 + 128)
                rest = math.floor(rest / 128)
            end
            groups[#groups + 1] = string.char(rest)
            bytes = bytes:sub(1, from - 1) .. table.concat(groups) .. bytes:sub(at)
            local version = string.format('%.0f', math.max(time[1] * 1000000 + time[2], tonumber(held[1]) + 1))
            redis.call('HSET', KEYS[1], 'v', version, 'b', bytes, 'i', version)
            if redis.call('PEXPIREAT', KEYS[1], string.format('%.0f', new), 'GT') == 1 then
                redis.call('ZADD', KEYS[2], new, slot .. ':' .. ARGV[4], -new, ':' .. ARGV[4])
            else
                redis.call('ZADD', KEYS[2], new, slot .. ':' .. ARGV[4])
            end
            return {1, time[1], time[2], new}
            """)
}
