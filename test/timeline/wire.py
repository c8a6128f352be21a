# SPDX-License-Identifier: Apache-2.0
"""Protocol buffers, the reading half: strict, and only the fields that test/timeline/trace.proto has."""
import os
import re
import struct

HERE = os.path.dirname(os.path.abspath(__file__))
WIRES = {"uint64": 0, "uint32": 0, "int64": 0, "int32": 0, "bool": 0, "Type": 0,
         "fixed64": 1, "double": 1}


def load(path):
    """The messages of a .proto: name -> {number: (field, type)}."""
    messages, stack = {}, []
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.split("//")[0].strip()
            opened = re.match(r"(message|enum) (\w+) \{", line)
            field = re.match(r"(?:optional|repeated) (\w+) (\w+) = (\d+);", line)
            if opened:
                stack.append(opened.group(2))
                messages.setdefault(opened.group(2), {})
            elif line == "}":
                stack.pop()
            elif field:
                messages[stack[-1]][int(field.group(3))] = (field.group(2), field.group(1))
    return messages


MESSAGES = load(os.path.join(HERE, "trace.proto"))
TRACE = "Trace"


def varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("a number is cut off")
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at


def scalar(kind, wire, data, at):
    if wire == 0:
        value, at = varint(data, at)
        if kind in ("int64", "int32") and value >= 1 << 63:
            value -= 1 << 64
        return value, at
    if at + 8 > len(data):
        raise ValueError("a number is cut off")
    return struct.unpack_from("<d" if kind == "double" else "<Q", data, at)[0], at + 8


def decode(data, message, bad):
    """Fields of a message by name, each a list. What is no such message is told to bad()."""
    fields, at = {}, 0
    try:
        while at < len(data):
            key, at = varint(data, at)
            number, wire = key >> 3, key & 7
            name, kind = MESSAGES[message].get(number, (None, None))
            if wire != WIRES.get(kind, 2) or not name:
                raise ValueError(f"field {number} of wire type {wire} is unknown")
            if wire != 2:
                value, at = scalar(kind, wire, data, at)
            else:
                length, at = varint(data, at)
                if at + length > len(data):
                    raise ValueError(f"{name} is cut off")
                value, at = data[at:at + length], at + length
                if kind == "string":
                    value = bytes(value).decode("utf-8")
                else:
                    value = decode(value, kind, bad)
            fields.setdefault(name, []).append(value)
    except (ValueError, UnicodeDecodeError) as err:
        bad(f"{message}: {err}")
    return fields


def one(fields, name, default=None):
    return fields[name][0] if name in fields else default


# ---- and the writing half, for those who break a trace on purpose

def put_varint(value):
    out = bytearray()
    value &= (1 << 64) - 1
    while value >= 0x80:
        out.append(value & 0x7f | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def encode(fields, message):
    numbers = {name: (number, kind) for number, (name, kind) in MESSAGES[message].items()}
    out = b""
    for name, values in fields.items():
        if name == "raw":  # bytes that are no field of ours
            out += values
            continue
        number, kind = numbers[name]
        wire = WIRES.get(kind, 2)
        for value in values:
            out += put_varint(number << 3 | wire)
            if wire == 0:
                out += put_varint(value)
            elif wire == 1:
                out += struct.pack("<d" if kind == "double" else "<Q", value)
            else:
                if isinstance(value, str):
                    value = value.encode("utf-8")
                elif not isinstance(value, bytes):
                    value = encode(value, kind)
                out += put_varint(len(value)) + value
    return out
