#include "backslice/variant_array.h"

#include "core/errors.h"
#include "ragged/selected_source.h"

namespace backslice {
namespace {

Status check_index(const VariantArray& array, std::int64_t i) {
  if (i >= 0 && i < array.size()) return Status();
  return out_of_range("element ", i, " is out of bounds for ", counted(array.size(), "element", "elements")).at("i");
}

}  // namespace

Result<VariantArray> VariantArray::make(std::vector<std::optional<RaggedTensor>> elements, Ints dims) {
  return without_throwing([&]() -> Result<VariantArray> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    if (shape->elements() != static_cast<std::int64_t>(elements.size())) {
      return invalid_argument("shape ", dims, " has ", counted(shape->elements(), "element", "elements"),
                              ", but elements has ", elements.size())
          .at("shape");
    }
    List list;
    list.pieces.reserve(elements.size());
    list.buffers.reserve(elements.size());
    for (const auto& element : elements) {
      if (!element) {
        list.has_missing = true;
        list.pieces.push_back({});
        list.buffers.push_back({});
        continue;
      }
      const ConstView view = element->values().view();
      list.pieces.push_back({view.data, view.elements(), false, view.dtype, view.layout.item_size, view.device});
      list.buffers.push_back(element->values().buffer());
    }
    list.elements = std::move(elements);
    return VariantArray(*shape, std::move(list));
  });
}

VariantArray VariantArray::rows_of(RaggedTensor batch) {
  Shape shape = *Shape::make({batch.rows()});
  return VariantArray(std::move(shape), std::move(batch));
}

Result<VariantArray> VariantArray::reshape(Ints dims) const {
  return without_throwing([&]() -> Result<VariantArray> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    if (shape->elements() != size()) {
      return invalid_argument("shape ", dims, " has ", counted(shape->elements(), "element", "elements"),
                              ", but the array has ", size())
          .at("shape");
    }
    return reshaped(*shape);
  });
}

Result<std::optional<RaggedTensor>> VariantArray::at(std::int64_t i, const Context& context) const {
  return without_throwing([&]() -> Result<std::optional<RaggedTensor>> {
    BACKSLICE_RETURN_IF_ERROR(check_index(*this, i));
    if (batch() == nullptr) return std::get<List>(elements_).elements[static_cast<std::size_t>(i)];
    auto row = batch()->row(i, context);
    if (!row.ok()) return row.status();
    return std::optional(*std::move(row));
  });
}

namespace {

// Returns the values of an element; a missing element has none.
Device device_of(const VariantArray& array, std::int64_t i) { return array.piece(i).device; }

// Calls body(source) with an element.
template <class Body>
auto with_element(const VariantArray& array, std::int64_t i, const Call& call, const Body& body)
    -> decltype(body(std::declval<const RaggedSource&>())) {
  if (const RaggedTensor* batch = array.batch()) {
    const RaggedSelection row = *RaggedSelection::from_index(*batch, {i});
    return body(SelectedSource(row, call));
  }
  const RaggedTensor* rt = array.listed(i);
  if (rt == nullptr) return invalid_argument("element ", i, " is missing").at("i");
  return body(WholeSource(*rt));
}

}  // namespace

Result<RaggedSize> VariantArray::element_size(std::int64_t i, const Context& context) const {
  return without_throwing([&]() -> Result<RaggedSize> {
    BACKSLICE_RETURN_IF_ERROR(check_index(*this, i));
    const auto size = [](const RaggedSource& source) -> Result<RaggedSize> { return source.size(); };
    return with_element(*this, i, Call(context, device_of(*this, i)), size);
  });
}

Status VariantArray::element_into(std::int64_t i, const RaggedView& out, const Context& context) const {
  return named::element_into(*this, i, out, {}, context);
}

Status named::element_into(const VariantArray& array, std::int64_t i, const RaggedView& out,
                           const RaggedViewNames& names, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_index(array, i));
    const Call call(context, device_of(array, i));
    return with_element(array, i, call,
                        [&](const RaggedSource& source) { return fill_ragged(source, out, names, call); });
  });
}

const RaggedTensor* VariantArray::listed(std::int64_t i) const& {
  const auto& element = std::get<List>(elements_).elements[static_cast<std::size_t>(i)];
  return element ? &*element : nullptr;
}

VariantArray::Piece VariantArray::piece(std::int64_t i) const& {
  const RaggedTensor* rt = batch();
  if (rt == nullptr) return std::get<List>(elements_).pieces[static_cast<std::size_t>(i)];
  const auto [lo, hi] = rt->values_of({i, i + 1});
  const ConstView view = rt->values().view();
  const std::int64_t inner = elements_per_row(view.shape());
  return {view.data + lo * inner * view.layout.item_size,
          (hi - lo) * inner,
          false,
          view.dtype,
          view.layout.item_size,
          view.device};
}

const Buffer& VariantArray::buffer(std::int64_t i) const& {
  if (const RaggedTensor* rt = batch()) return rt->values().buffer();
  return std::get<List>(elements_).buffers[static_cast<std::size_t>(i)];
}

}  // namespace backslice
