"""A workload's index in Python's and in TensorFlow's notation."""


def index_of(workload):
    return tuple(item if isinstance(item, int) else slice(*item) for item in workload["index"])


def result_shape(workload):
    shape = []
    items = list(index_of(workload)) + [slice(None)] * (len(workload["shape"]) - len(workload["index"]))
    for extent, item in zip(workload["shape"], items):
        if not isinstance(item, int):
            shape.append(len(range(*item.indices(extent))))
    return tuple(shape)


def tensorflow_spec(workload):
    """begin, end, strides and masks."""
    begin, end, strides, begin_mask, end_mask, shrink = [], [], [], 0, 0, 0
    for i, item in enumerate(index_of(workload)):
        if isinstance(item, int):
            begin.append(item), end.append(item + 1), strides.append(1)
            shrink |= 1 << i
            continue
        begin.append(item.start or 0), end.append(item.stop or 0), strides.append(item.step or 1)
        begin_mask |= (item.start is None) << i
        end_mask |= (item.stop is None) << i
    return begin, end, strides, dict(begin_mask=begin_mask, end_mask=end_mask, shrink_axis_mask=shrink)
